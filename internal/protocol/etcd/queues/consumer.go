package queues

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
)

// consumer is one consumer of a queue with the deliveries that it holds. It is the shard.Sink of
// its session.
type consumer struct {
	n             *Namespace
	queue, client string
	owner         string          // the user that created the consumer
	session       *broker.Session // used by make, then by leave
	made          chan struct{}   // closed when the consumer is ready, or has failed with err
	err           error           // set before made is closed
	gone          chan struct{}   // closed when it has left and requeued its deliveries

	mu      sync.Mutex
	engine  *shard.Consumer // set at the first delivery or when the consumer is made; then constant
	held    map[queue.Handle]held
	watches []*Watch    // the slice is replaced, never modified
	lease   int64       // 0: no lease
	created int64       // revision
	used    time.Time   // of the last request
	idle    *time.Timer // nil: not running
	leaving bool        // accepts no further watches or claims
}

// held is a delivery that was neither acknowledged nor requeued.
type held struct {
	env      message.Envelope
	tail     []byte // the message's own key; nil: its index is the key
	revision int64  // of the delivery
	busy     bool   // claimed by a goroutine that decides its outcome
}

// weight returns how many bytes a delivery or an event counts in the session's window.
func weight(env message.Envelope) int { return len(env) + 64 }

// appendKey appends the part of the key after the consumer's own key.
func (h *held) appendKey(dst []byte, handle queue.Handle) []byte {
	return appendMessageKey(dst, handle, h.tail)
}

// appendMessageKey appends a slash, the index and the key of a message.
func appendMessageKey(dst []byte, handle queue.Handle, tail []byte) []byte {
	if len(tail) == 0 {
		return qkey.AppendIndex(append(qkey.AppendIndex(append(dst, '/'), uint64(handle)), '/'), uint64(handle))
	}
	return qkey.AppendMessage(dst, uint64(handle), tail)
}

// tailOf returns the key that a message was given, which is its message-id, or nil.
func tailOf(env message.Envelope) []byte {
	peek, err := message.PeekProperties(env.Properties())
	if err != nil {
		return nil
	}
	return peek.MessageID
}

// is reports whether tail is the key of the delivery at handle.
func (h *held) is(handle queue.Handle, tail []byte) bool {
	if len(h.tail) == 0 {
		return string(tail) == string(qkey.AppendIndex(nil, uint64(handle)))
	}
	return string(h.tail) == string(tail)
}

// Deliver adds deliveries. It runs on the goroutine of the queue's shard.
func (c *consumer) Deliver(ds []shard.Delivery) {
	bytes := 0
	c.mu.Lock()
	if c.engine == nil {
		c.engine = ds[0].Consumer
	}
	for i := range ds {
		d := &ds[i]
		h := held{env: d.Env, tail: tailOf(d.Env), revision: c.n.Clock.Next()}
		c.held[d.Handle] = h
		bytes += weight(d.Env)
	}
	for _, w := range c.watches {
		bytes += w.addDeliveries(ds)
	}
	watches := c.watches
	c.session.Window().Add(bytes)
	c.mu.Unlock()
	for _, w := range watches {
		w.ready()
	}
}

// Cancelled is called when the queue is deleted, together with all held deliveries.
func (c *consumer) Cancelled(*shard.Consumer) {
	c.mu.Lock()
	clear(c.held)
	c.mu.Unlock()
	go c.leave(errQueueDeleted)
}

// hold is a claimed delivery.
type hold struct {
	handle queue.Handle
	held
}

// claim marks the matching deliveries as busy that are not claimed yet, and returns them in queue
// order.
func (c *consumer) claim(match func(queue.Handle, *held) bool) (all []hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leaving {
		return nil
	}
	for handle, h := range c.held {
		if !h.busy && match(handle, &h) {
			h.busy = true
			c.held[handle] = h
			all = append(all, hold{handle, h})
		}
	}
	slices.SortFunc(all, func(a, b hold) int { return cmp.Compare(a.handle, b.handle) })
	return all
}

// claimOne claims one delivery.
func (c *consumer) claimOne(handle queue.Handle, tail []byte) (h hold, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	have, ok := c.held[handle]
	if !ok || c.leaving || have.busy || !have.is(handle, tail) {
		return h, false
	}
	have.busy = true
	c.held[handle] = have
	c.used = c.n.Now()
	return hold{handle, have}, true
}

// unclaim releases claims whose operation did not happen. If the consumer has left, its deliveries
// are requeued.
func (c *consumer) unclaim(all []hold) {
	var back []hold
	c.mu.Lock()
	for _, h := range all {
		if have, ok := c.held[h.handle]; ok {
			have.busy = false
			c.held[h.handle] = have
		}
	}
	if c.leaving {
		back = c.takeFree()
	}
	c.mu.Unlock()
	if len(back) == 0 {
		return
	}
	if s, err := c.n.Operator(); err == nil {
		c.giveBack(s, back)
		c.n.Back(s)
	}
}

// settled removes claimed deliveries that are acknowledged, and notifies watches.
func (c *consumer) settled(all ...hold) {
	bytes := 0
	c.mu.Lock()
	for i := range all {
		if _, ok := c.held[all[i].handle]; ok {
			delete(c.held, all[i].handle)
			bytes -= weight(all[i].env)
		}
	}
	var watches []*Watch
	for _, w := range c.watches {
		if n := w.addDeletions(all); n > 0 {
			bytes += n
			watches = append(watches, w)
		}
	}
	c.mu.Unlock()
	if c.session.Window().Done(-bytes); len(watches) > 0 {
		for _, w := range watches {
			w.ready()
		}
	}
}

// takeFree removes and returns the unclaimed deliveries. The caller holds c.mu.
func (c *consumer) takeFree() (all []hold) {
	for handle, h := range c.held {
		if !h.busy {
			all = append(all, hold{handle, h})
			delete(c.held, handle)
		}
	}
	slices.SortFunc(all, func(a, b hold) int { return cmp.Compare(a.handle, b.handle) })
	return all
}

// giveBack requeues deliveries at their original positions.
func (c *consumer) giveBack(s *broker.Session, all []hold) {
	for first, n := range runs(all) {
		s.Return(c.engine.Queue, c.engine, first, n)
	}
	s.Flush()
}

// runs iterates over the deliveries as runs of adjacent positions: the first position and the
// length of each run.
func runs(all []hold) func(yield func(queue.Handle, int) bool) {
	return func(yield func(queue.Handle, int) bool) {
		for at := 0; at < len(all); {
			n := 1
			for at+n < len(all) && all[at+n].handle == all[at].handle+queue.Handle(n) {
				n++
			}
			if !yield(all[at].handle, n) {
				return
			}
			at += n
		}
	}
}

// holds returns all unacknowledged deliveries in queue order.
func (c *consumer) holds() (all []hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for handle, h := range c.held {
		all = append(all, hold{handle, h})
	}
	slices.SortFunc(all, func(a, b hold) int { return cmp.Compare(a.handle, b.handle) })
	return all
}

// record returns the key-value pair of the consumer itself, with the given spelling of its key.
func (c *consumer) record(key []byte) *mvccpb.KeyValue {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &mvccpb.KeyValue{Key: key, Value: []byte(c.n.Node), CreateRevision: c.created, ModRevision: c.created, Version: 1, Lease: c.lease}
}
