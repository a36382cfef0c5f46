package broker

import (
	"errors"
	"sync"

	"fiveways/internal/core/failure"
	"fiveways/internal/core/queue"
	"fiveways/internal/statemachine"
	"fiveways/internal/storage/store"
)

// Tx is a set of publishes and settles that happen together or not at all, over any number of
// queues: they are one atomic group of the log.
type Tx struct {
	s          *Session
	parts      []txPart // one per shard, in the order in which they came
	posts      bool
	publishes  []*ServerPublish
	piggybacks piggybacks
	rates      *Reservation // of the publishes, not charged yet; nil: none is needed
}

// txPart is a transaction's share of one shard.
type txPart struct {
	shard *shard
	ops   []op
	bytes int64    // of the log that the publishes will take
	group *txGroup // nil when it is the only part
	done  func(error)
}

// NewTx begins a transaction. Nothing happens before Commit, so one that is dropped leaves nothing
// behind.
func (s *Session) NewTx() *Tx { return &Tx{s: s} }

// add puts an op into the part of its shard.
func (t *Tx) add(sh *shard, o op) {
	for i := range t.parts {
		if p := &t.parts[i]; p.shard == sh {
			p.ops = append(p.ops, o)
			p.bytes += int64(len(o.env))
			return
		}
	}
	ops := t.s.committing.spare
	t.s.committing.spare = nil
	t.parts = append(t.parts, txPart{shard: sh, ops: append(ops, o), bytes: int64(len(o.env))})
}

// Publish adds a message; its Confirm is not used.
func (t *Tx) Publish(p *Publish) {
	o := p.op()
	o.confirm = nil
	t.posts = true
	if !p.Told {
		t.s.TapPublish(0, p.Env, nil, p.Targets)
	}
	if t.s.rated() && !p.Reserved && p.CopyOf == nil {
		if t.rates == nil {
			t.rates = &Reservation{s: t.s}
		}
		t.rates.addMessage(int64(len(p.Env.Body())), p.Targets.queues...)
	}
	p.Targets.each(o, t.add)
}

// Piggyback adds an entry of a state machine.
func (t *Tx) Piggyback(e *PiggybackedEntry) { t.piggybacks = append(t.piggybacks, e) }

// ServerPublish adds a message of the server itself, behind all others.
func (t *Tx) ServerPublish(p *ServerPublish) { t.publishes = append(t.publishes, p) }

// bytes is how much of the log the publishes and the piggybacked entries will take.
func (t *Tx) bytes() (sum int64) {
	for i := range t.parts {
		sum += t.parts[i].bytes
	}
	for _, n := range t.piggybacks {
		sum += int64(n.size())
	}
	return sum
}

// AwaitRoom holds a publisher back while the log is behind or memory is short, and until the limits
// of rates allow all of the transaction. Commit calls it, too; a caller calls it before it takes
// locks for the commit. Errors: ErrClosed when SessionOptions.Done was closed first.
func (t *Tx) AwaitRoom() error {
	if r := t.rates; r != nil {
		t.rates = nil
		r.charge.Take()
		if err := r.Await(); err != nil {
			return err
		}
	}
	if t.posts {
		t.posts = false
		t.s.b.flow.await()
	}
	return nil
}

// prepare routes the messages of the server and makes the entries of state machines.
func (t *Tx) prepare() error {
	for _, n := range t.piggybacks {
		if err := n.prepare(t.s.b); err != nil {
			return err
		}
	}
	for _, e := range t.publishes {
		if _, err := e.Find(Finder{t.s}); err != nil {
			return err
		}
		e.each(t.add)
	}
	t.publishes = nil
	return nil
}

// Ack adds the end of n contiguous deliveries.
func (t *Tx) Ack(q *Queue, c *Consumer, h queue.Handle, n int) { t.settle(opAck, q, c, h, n) }

// Requeue adds the return of n contiguous deliveries.
func (t *Tx) Requeue(q *Queue, c *Consumer, h queue.Handle, n int) { t.settle(opRequeue, q, c, h, n) }

// Release adds the end of a loan, as Session.Release.
func (t *Tx) Release(q *Queue, h queue.Handle, n int) { t.settle(opRelease, q, nil, h, n) }

// Return adds the return of n contiguous deliveries that no consumer decided on.
func (t *Tx) Return(q *Queue, c *Consumer, h queue.Handle, n int) { t.settle(opReturn, q, c, h, n) }

// Reject adds the rejection of n contiguous deliveries.
func (t *Tx) Reject(q *Queue, c *Consumer, h queue.Handle, n int) { t.settle(opReject, q, c, h, n) }

func (t *Tx) settle(kind opKind, q *Queue, c *Consumer, h queue.Handle, n int) {
	t.add(q.shard, op{kind: kind, queue: q, consumer: c, handle: h, n: uint32(n)})
}

// MaxTxBytes is the most bytes that a transaction may publish, and dead-letter on one shard: it is
// written as one group.
const MaxTxBytes = 512 << 20

// Commit applies the transaction and returns when it is durable. With ErrRejected (a full queue
// rejects a message, or the queue of one that must arrive is gone) or ErrTooLarge nothing of it has
// happened; with ErrLogFailed all of it is there after a restart, or nothing.
func (t *Tx) Commit() error {
	s := t.s
	s.Flush()
	if err := t.prepare(); err != nil {
		return err
	}
	if err := t.AwaitRoom(); err != nil {
		return err
	}
	switch {
	case len(t.parts)+len(t.piggybacks) == 0:
		return nil
	case t.bytes() > MaxTxBytes:
		return &Error{Err: ErrTooLarge, Kind: "transaction"}
	case len(t.parts) == 0:
		return t.piggybacks.record(s.b)
	case len(t.parts) == 1 && len(t.piggybacks) == 0:
		err := s.committing.commit(s, &t.parts[0])
		if err == nil {
			t.parts = nil
		}
		return err
	}
	g := &txGroup{b: s.b, want: len(t.parts), piggybacks: t.piggybacks, machines: s.b.machines.With(t.piggybacks.entries()), result: make(chan error, 1)}
	g.cond = sync.NewCond(&g.mu)
	owes, ok := s.submitAll(len(t.parts), func(i int) (*shard, op) {
		p := &t.parts[i]
		p.group = g
		return p.shard, op{kind: opTx, extra: p}
	})
	if !ok {
		g.refuse()
		return ErrClosed
	}
	if owes {
		s.b.commit()
		g.machines.Visit()
	}
	return <-g.result
}

// committing is what a session needs to commit transactions of one part, one at a time. It is
// reused.
type committing struct {
	result chan error  // 1 slot; nil before the first
	answer func(error) // sends to it
	spare  []op        // of the last transaction, for the next one
}

// spareOps is how many ops a spare may have room for.
const spareOps = 64

// commit hands the only part of a transaction to its shard. No other shard takes part, so many
// transactions may share an entry of the log, which is written whole.
func (c *committing) commit(s *Session, p *txPart) error {
	if c.result == nil {
		result := make(chan error, 1)
		c.result, c.answer = result, func(err error) { result <- err }
	}
	p.done = c.answer
	owes, ok := p.shard.submit(s, op{kind: opTx, extra: p}, true)
	if !ok {
		return ErrClosed
	}
	if owes {
		p.shard.b.commit()
	}
	err := <-c.result
	switch {
	case err == nil:
		clear(p.ops)
		if cap(p.ops) <= spareOps {
			c.spare = p.ops[:0]
		}
	case !errors.Is(err, ErrRejected):
		err = failure.LogFailed("transaction", err)
	}
	return err
}

// run is one shard's part.
func (p *txPart) run(sh *shard) {
	if p.group != nil {
		p.group.run(p, sh)
		return
	}
	if !p.admissible() {
		p.done(ErrRejected)
		return
	}
	if p.bytes > entryBytes {
		sh.propose() // so that no entry is larger than it must be
	}
	p.apply(sh)
	sh.entry.waiters = append(sh.entry.waiters, p.done)
}

// apply does all of the part, into one entry.
func (p *txPart) apply(sh *shard) {
	sh.inTx = true
	for i := range p.ops {
		sh.do(&p.ops[i])
		sh.doLocal()
	}
	sh.inTx = false
}

// txGroup coordinates the shards of one transaction: first each votes, then each applies its part
// into an entry of its own, and the last to finish hands all the entries to the log as one atomic
// group. All shards see transactions in the same order, so they cannot deadlock.
type txGroup struct {
	b          *Broker
	want       int
	piggybacks piggybacks
	machines   statemachine.Hosts // of the piggybacks
	result     chan error

	mu      sync.Mutex
	cond    *sync.Cond
	votes   int
	refused bool
	shards  []uint32
	entries []store.Entry
	dones   []func(error)
}

// refuse makes the group fail. Shards that wait for votes go on.
func (g *txGroup) refuse() {
	g.mu.Lock()
	g.refused = true
	g.mu.Unlock()
	g.cond.Broadcast()
}

// vote adds a shard's vote, waits for all, and returns the outcome.
func (g *txGroup) vote(ok bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.votes++
	if !ok {
		g.refused = true
	}
	g.cond.Broadcast()
	for g.votes < g.want && !g.refused {
		g.cond.Wait()
	}
	return !g.refused
}

func (g *txGroup) finish(err error) {
	select {
	case g.result <- err:
	default: // it has a result already
	}
}

// run is one shard's part of a transaction over several.
func (g *txGroup) run(p *txPart, sh *shard) {
	if !g.vote(p.admissible()) {
		g.finish(ErrRejected)
		return
	}
	sh.propose() // what came before is an entry of its own
	p.apply(sh)
	pr := sh.entry
	empty := sh.facts.Empty()
	done := pr.finished
	var e store.Entry
	if !empty {
		pr.wait = max(pr.wait, sh.b.opts.Sync.Wait())
		e = sh.seal()
	}
	g.arrive(sh, e, done, empty)
}

// admissible reports whether no full queue would reject one of the messages, those before it in the
// transaction included, and the queues of messages that must arrive are there.
func (p *txPart) admissible() bool {
	var loads loads
	dead := int64(0)
	for i := range p.ops {
		o := &p.ops[i]
		if o.mayKill() && !o.queue.gone && o.queue.Policy().DeadLetter {
			for k := range int(o.n) {
				if it, status := o.queue.state.Get(o.handle + queue.Handle(k)); status != queue.Gone {
					dead += int64(it.Size)
				}
			}
			if dead > MaxTxBytes {
				return false
			}
		}
		if o.kind != opPublish {
			continue
		}
		first, more := o.queue, o.more
		if first.relay != nil {
			if t, ok := first.shard.lookThrough(o); ok && !t.Empty() {
				first, more = t.queues[0], t.queues[1:]
			}
		}
		for j := -1; j < len(more); j++ {
			q := first
			if j >= 0 {
				q = more[j]
			}
			if o.must && q.gone || !loads.fit(q, len(o.env.Body())) {
				return false
			}
		}
	}
	return true
}

// mayKill reports whether the op may make dead letters.
func (o *op) mayKill() bool {
	return o.kind == opReject || (o.kind == opRequeue || o.kind == opReturn) && o.queue.Policy().DeliveryLimit >= 0
}

// arrive adds a shard's entry. The last shard appends the group. The others wait for that, so that
// no later entry of theirs comes first.
func (g *txGroup) arrive(sh *shard, e store.Entry, done func(error), empty bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shards = append(g.shards, sh.id)
	if !empty {
		g.entries = append(g.entries, e)
		g.dones = append(g.dones, done)
	}
	g.want--
	if g.want > 0 {
		for g.want > 0 {
			g.cond.Wait()
		}
		return
	}
	g.cond.Broadcast()
	sh.proposeGroup(g.shards, g.entries, g.dones, g.piggybacks, g.finish)
}
