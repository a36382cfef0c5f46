package broker

import (
	"sync"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/routing"
)

// removals are the queues that their shards have marked as idle and that are still in the
// definitions.
type removals struct {
	mu     sync.Mutex
	queues []*shard.Queue
	wake   chan struct{} // 1 slot: queues is not empty
}

func (r *removals) add(q *shard.Queue) {
	r.mu.Lock()
	r.queues = append(r.queues, q)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// removeBatch is the number of queues removed with one change of the definitions.
const removeBatch = 256

func (r *removals) take() (batch []*shard.Queue) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.queues), removeBatch)
	batch, r.queues = r.queues[:n:n], r.queues[n:]
	if len(r.queues) == 0 {
		r.queues = nil
	}
	return batch
}

// remove is the goroutine that removes such queues from the definitions.
func (b *Broker) remove() {
	defer b.housekeeper.Done()
	for {
		select {
		case <-b.stop:
			return
		case <-b.removals.wake:
		}
		for b.removeIdle() {
			select {
			case <-b.stop:
				return
			default:
			}
		}
	}
}

// removeIdle takes a batch of listed queues and removes those that are still idle from the
// definitions. It returns false if there are none. It does not wait for the log: after a crash they
// may still exist, but they are empty.
func (b *Broker) removeIdle() bool {
	b.journal.Lock()
	defer b.journal.Unlock()
	queues := b.removals.take()
	if len(queues) == 0 {
		return false
	}
	byShard := map[*shard.Shard][]*shard.Queue{}
	for _, q := range queues {
		byShard[q.Home()] = append(byShard[q.Home()], q)
	}
	var removed []*shard.Queue
	for sh, own := range byShard {
		bound := map[*shard.Queue]bool{}
		for _, q := range own {
			bound[q] = isBound(q)
		}
		gone, err := sh.RemoveIdle(own, func(q *shard.Queue) bool { return bound[q] })
		removed = append(removed, gone...)
		if err != nil {
			break // the broker is closing
		}
	}
	edits := map[*catalog.VHost]*catalog.Edit{}
	for _, q := range removed {
		if edits[q.In] == nil {
			edits[q.In] = q.In.Edit(nil)
		}
		edits[q.In].EndQueue(&q.Queue)
	}
	for _, e := range edits {
		b.commitEdit(e)
	}
	return true
}

// isBound reports whether an exchange has a binding to the queue.
func isBound(q *shard.Queue) bool {
	for range q.In.Table().BindingsTo(routing.Destination{Queue: routing.QueueID(q.ID)}) {
		return true
	}
	return false
}

// makeExplicit makes an implicit queue explicit. It returns false if the queue was removed. The
// caller must then wait for the entry Queue.ExplicitAt.
func (b *Broker) makeExplicit(q *shard.Queue) bool {
	b.journal.Lock()
	defer b.journal.Unlock()
	e := q.In.Edit(nil)
	if !e.KeepQueue(&q.Queue) {
		return false
	}
	b.commitEdit(e)
	return true
}

func (b *Broker) passOn(q *shard.Queue, o shard.Op) {
	b.journal.Settle()
	s, err := b.Operate(q.In.Name)
	if err == nil && &s.vhost.VHost != q.In {
		err = catalog.VHostNotFound(q.In.Name)
	}
	if err == nil {
		o.Queue, err = s.findOrMake(q.Name, true)
	}
	if (err != nil || !o.Queue.Send(o)) && o.Confirm != nil {
		o.Confirm.Confirmed(o.Seq, o.Seq, false)
	}
}
