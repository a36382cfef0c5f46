package broker

import (
	"sync"

	"fiveways/internal/core/catalog"
	"fiveways/internal/core/routing"
)

// removals are the queues that their shards let go and that are still in the definitions.
type removals struct {
	mu     sync.Mutex
	queues []*Queue
	wake   chan struct{} // 1 slot: queues is not empty
}

func (r *removals) add(q *Queue) {
	r.mu.Lock()
	r.queues = append(r.queues, q)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// removeBatch is how many queues are removed with one change of the definitions.
const removeBatch = 256

func (r *removals) take() (batch []*Queue) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.queues), removeBatch)
	batch, r.queues = r.queues[:n:n], r.queues[n:]
	if len(r.queues) == 0 {
		r.queues = nil
	}
	return batch
}

// remove is the goroutine of removals.
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

// removeIdle takes a batch of the queues that were let go, and removes those that are still idle
// from the definitions; false when there are none. It does not wait for the log: a crash may leave
// them, for they are empty.
func (b *Broker) removeIdle() bool {
	b.journal.Lock()
	defer b.journal.Unlock()
	queues := b.removals.take()
	if len(queues) == 0 {
		return false
	}
	byShard := map[*shard][]*Queue{}
	for _, q := range queues {
		byShard[q.shard] = append(byShard[q.shard], q)
	}
	var removed []*Queue
	for sh, own := range byShard {
		bound := map[*Queue]bool{}
		for _, q := range own {
			bound[q] = isBound(q)
		}
		err := sh.call(func() {
			for _, q := range own {
				if bound[q] {
					sh.implicits.add(q, sh.now)
				} else if sh.removeIdle(q) {
					removed = append(removed, q)
				}
			}
		})
		if err != nil {
			break // the broker closes
		}
	}
	edits := map[*VHost]*catalog.Edit{}
	for _, q := range removed {
		if edits[q.vhost] == nil {
			edits[q.vhost] = q.vhost.Edit(nil)
		}
		edits[q.vhost].EndQueue(&q.Queue)
	}
	for _, e := range edits {
		b.commitEdit(e)
	}
	return true
}

// isBound reports whether an exchange has a binding to the queue.
func isBound(q *Queue) bool {
	for range q.vhost.Table().BindingsTo(routing.Destination{Queue: routing.QueueID(q.ID)}) {
		return true
	}
	return false
}

// makeExplicit makes an implicit queue explicit; false when it was removed. Queue.explicitAt is the
// entry to wait for then.
func (b *Broker) makeExplicit(q *Queue) bool {
	b.journal.Lock()
	defer b.journal.Unlock()
	e := q.vhost.Edit(nil)
	if !e.KeepQueue(&q.Queue) {
		return false
	}
	b.commitEdit(e)
	return true
}
