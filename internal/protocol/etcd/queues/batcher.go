package queues

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// Batcher is the fast path to the queues for one connection and one user. Puts to producers and
// deletes of single deliveries are collected while a read is handled, go to the engine together at
// Flush, and are answered when they are durable, without a goroutine each. Everything else is left
// to Namespace.Put and DeleteRange, on a goroutine that may wait. Only the connection's reader may
// use a batcher.
type Batcher struct {
	n   *Namespace
	who Caller

	s     *broker.Session // with all permissions: the caller's are checked before
	quick []PutCall       // answered at the next Flush, since the guarantee is None
	space []byte          // free memory for the envelopes of one read
	taken int             // size of the last allocation for space
}

// PutCall is a put that is answered later, once, from any goroutine. PutDone must not block.
type PutCall interface {
	PutDone(revision int64, err error)
}

// DeleteCall is a delete of one key that is answered later, once, from any goroutine. DeleteDone
// must not block.
type DeleteCall interface {
	DeleteDone(deleted bool, revision int64, err error)
}

// NewBatcher returns a batcher for a caller. It fails if there is no virtual host.
func (n *Namespace) NewBatcher(who Caller) (*Batcher, error) {
	s, err := n.Broker.Operate(virtual.VHost) // the caller's own session may end at any time
	if err != nil {
		return nil, toStatus(err)
	}
	s.Unheld()
	return &Batcher{n: n, who: who, s: s}, nil
}

// chunk is the largest allocation for the messages of one read. A message that stays keeps its
// whole chunk alive: the first chunk of a read has the size that is needed, and each further one is
// twice as large.
const chunk = 16 << 10

// room returns an empty slice with capacity n.
func (d *Batcher) room(n int) []byte {
	if n > chunk/4 {
		return make([]byte, 0, n)
	}
	if n > len(d.space) {
		d.taken = max(n, min(2*d.taken, chunk))
		d.space = make([]byte, d.taken)
	}
	b := d.space[:0:n]
	d.space = d.space[n:]
	return b
}

// pendingPut is a put whose message is not confirmed yet. It implements shardlog.Confirmer.
type pendingPut struct {
	n    *Namespace
	call PutCall
}

// Confirmed implements shardlog.Confirmer.
func (p *pendingPut) Confirmed(_, _ uint64, ok bool) {
	p.call.PutDone(p.n.Clock.Current(), p.n.refused(ok))
}

// StartPut publishes a message if that need not wait, and reports whether it did or has answered.
// key and value are not kept.
func (d *Batcher) StartPut(key, value []byte, call PutCall) bool {
	path := qkey.Parse(key)
	if path.Kind != qkey.Producer || !fits(&path) || d.n.Broker.Behind() || d.n.Broker.Alarm() != nil {
		return false
	}
	name := string(path.Queue)
	err := d.who.Session.MayWrite(name)
	targets, known := d.s.Known(path.Queue)
	if err == nil && !known {
		if !d.s.Rights.HasQueue(name) {
			return false // creating a queue takes time
		}
		targets, err = d.s.To(path.Queue)
	}
	if err != nil {
		call.PutDone(0, toStatus(err))
		return true
	}
	if d.who.Session.Rated(targets) {
		return false // rate limiting may make it wait
	}
	p := newPublish(targets, &path, value, d.room)
	if d.n.Guarantee == None {
		d.quick = append(d.quick, call)
	} else {
		p.Confirm = &pendingPut{d.n, call}
	}
	d.s.Publish(&p)
	return true
}

// pendingDelete is a delivery whose acknowledgement is not confirmed yet. It implements
// shardlog.Confirmer.
type pendingDelete struct {
	c    *consumer
	h    hold
	call DeleteCall
}

// Confirmed implements shardlog.Confirmer.
func (p *pendingDelete) Confirmed(_, _ uint64, ok bool) {
	p.c.settled(p.h)
	var err error
	if !ok && p.c.n.Broker.LogFailed() {
		err = virtual.ErrLogFailed
	}
	p.call.DeleteDone(ok, p.c.n.Clock.Current(), err)
}

// StartDelete acknowledges the delivery of a key if the caller's consumer holds it, and reports
// whether it did. key is not kept.
func (d *Batcher) StartDelete(key []byte, call DeleteCall) bool {
	path := qkey.Parse(key)
	if path.Kind != qkey.Delivery {
		return false
	}
	c := d.n.find(path.Queue, path.Client)
	if c == nil || !c.isMade() || c.mine(d.who) != nil {
		return false
	}
	h, ok := c.claimOne(handleOf(path.Index), path.Tail)
	if !ok {
		return false
	}
	p := &pendingDelete{c: c, h: h, call: call}
	d.s.AckConfirmed(c.engine.Queue, c.engine, h.handle, 1, p, 0)
	return true
}

// Flush passes the collected requests to the engine, and runs an idle engine on the caller's
// goroutine: answers may come before Flush returns.
func (d *Batcher) Flush() {
	d.s.FlushInline()
	quick := d.quick
	d.quick, d.space, d.taken = nil, nil, 0
	for _, call := range quick {
		call.PutDone(d.n.Clock.Current(), nil)
	}
}
