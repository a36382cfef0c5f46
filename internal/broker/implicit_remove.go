package broker

import (
	"sync"

	"fiveways/internal/core/routing"
)

// removals are queues that their shards let go, until they are out of the definitions.
type removals struct {
	mu     sync.Mutex
	queues []*Queue
	wake   chan struct{} // 1 slot: there are some
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
		for b.catalog.removeIdle() {
			select {
			case <-b.stop:
				return
			default:
			}
		}
	}
}

// removeIdle takes some of those that were let go out of the definitions, as far as they are idle still; false when there are none. They are empty: it
// does not matter whether a crash leaves them, and nobody waits for the log.
func (c *catalog) removeIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	queues := c.b.removals.take()
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
			bound[q] = c.isBound(q)
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
			break // the broker ends
		}
	}
	tables := map[*VHost]*routing.Table{}
	var facts []*topologyFact
	for _, q := range removed {
		t := tables[q.vhost]
		if t == nil {
			t = q.vhost.table.Load()
		}
		tables[q.vhost], _ = t.RemoveQueue(q.Name, routing.QueueID(q.ID))
		if c.forget(q.ID) {
			q.vhost.queues.Add(-1)
		}
		facts = append(facts, &topologyFact{VHost: q.vhost.Name, Delete: true, Queue: &queueFact{ID: q.ID, Name: name(q.Name)}})
	}
	for v, t := range tables {
		v.table.Store(t)
	}
	c.record(facts...)
	return true
}

// isBound tells whether an exchange has a binding to the queue. mu is held.
func (c *catalog) isBound(q *Queue) bool {
	for range q.vhost.table.Load().BindingsTo(routing.Destination{Queue: routing.QueueID(q.ID)}) {
		return true
	}
	return false
}

// settle returns when what is being removed now is out of the definitions. The caller holds no lock.
func (c *catalog) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
}

// makeExplicit makes an implicit queue one that stays; false when it has gone. Queue.explicitAt is the entry to wait for then.
func (c *catalog) makeExplicit(q *Queue) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.b.queueByID(q.ID); !ok {
		return false
	}
	if q.implicit.Load() {
		f := newQueueFact(q)
		f.Implicit = false
		q.explicitAt.Store(c.record(&topologyFact{VHost: q.vhost.Name, Queue: f}))
		q.implicit.Store(false) // behind explicitAt: who sees it waits for the right entry
	}
	return true
}
