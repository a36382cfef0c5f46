package broker

import (
	"context"
	"errors"
	"slices"
	"sync"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/store"
)

// Tx is a set of publishes and settlements on any number of queues that take effect as one atomic
// group of the log.
type Tx struct {
	s          *Session
	parts      []txPart // one per shard, in order of first use
	posts      bool
	expected   int // messages
	publishes  []*ServerPublish
	piggybacks piggybacks
	rates      *Reservation // of the publishes, not yet charged; nil: none is needed
}

// txPart is a transaction's share of one shard.
type txPart struct {
	shard *shard.Shard
	ops   []shard.Op
	bytes int64    // of the log that the publishes need
	most  int      // bytes that it may dead-letter
	group *txGroup // nil if it is the only part
	done  func(error)
}

// NewTx begins a transaction. Nothing happens before Commit, so the caller may simply drop it.
func (s *Session) NewTx() *Tx { return &Tx{s: s} }

// Expect says how many messages will be added, all or most of them to one shard.
func (t *Tx) Expect(n int) { t.expected = n }

// add adds an op to the part of its shard.
func (t *Tx) add(sh *shard.Shard, o shard.Op) {
	for i := range t.parts {
		if p := &t.parts[i]; p.shard == sh {
			p.ops = append(p.ops, o)
			p.bytes += int64(len(o.Env))
			return
		}
	}
	ops := t.s.committing.spare
	t.s.committing.spare = nil
	ops = slices.Grow(ops, t.expected)
	t.expected = 0
	t.parts = append(t.parts, txPart{shard: sh, ops: append(ops, o), bytes: int64(len(o.Env))})
}

// Publish adds a message. Its Confirm is ignored.
func (t *Tx) Publish(p *shard.Publish) {
	o := p.Op()
	o.Confirm = nil
	t.posts = true
	if !p.Told {
		t.s.TapPublish(0, p.Env, nil, p.Targets)
	}
	if t.s.rated() && !p.Reserved && p.CopyOf == nil {
		if t.rates == nil {
			t.rates = &Reservation{s: t.s}
		}
		t.rates.addMessage(int64(len(p.Env.Body())), p.Targets.Queues()...)
	}
	p.Targets.Each(o, t.add)
}

// Piggyback adds an entry of a state machine.
func (t *Tx) Piggyback(e *PiggybackedEntry) { t.piggybacks = append(t.piggybacks, e) }

// ServerPublish adds a message of the server itself, after all others.
func (t *Tx) ServerPublish(p *ServerPublish) { t.publishes = append(t.publishes, p) }

// bytes returns the bytes of the log that the publishes and the piggybacked entries need.
func (t *Tx) bytes() (sum int64) {
	for i := range t.parts {
		sum += t.parts[i].bytes
	}
	for _, n := range t.piggybacks {
		sum += int64(n.size())
	}
	return sum
}

// AwaitRoom blocks a publisher while the log is behind or memory is short, and until the rate
// limits allow the whole transaction. Commit calls it, too. A caller that takes locks for the
// commit, or may give up, calls it before. Errors: those of Reservation.Await.
func (t *Tx) AwaitRoom(ctx context.Context) error {
	if r := t.rates; r != nil {
		t.rates = nil
		r.charge.Take()
		if err := r.Await(ctx); err != nil {
			return err
		}
	}
	if t.posts {
		t.posts = false
		t.s.b.set.Flow.Await()
	}
	return nil
}

// prepare routes the messages of the server and prepares the entries of state machines.
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

// Ack adds acknowledgements of n contiguous deliveries.
func (t *Tx) Ack(q *shard.Queue, c *shard.Consumer, h queue.Handle, n int) {
	t.settle(shard.OpAck, q, c, h, n)
}

// Requeue adds the return of n contiguous deliveries.
func (t *Tx) Requeue(q *shard.Queue, c *shard.Consumer, h queue.Handle, n int) {
	t.settle(shard.OpRequeue, q, c, h, n)
}

// Release adds the end of a loan, like Session.Release.
func (t *Tx) Release(q *shard.Queue, h queue.Handle, n int) { t.settle(shard.OpRelease, q, nil, h, n) }

// Return adds the return of n contiguous deliveries that no consumer decided on.
func (t *Tx) Return(q *shard.Queue, c *shard.Consumer, h queue.Handle, n int) {
	t.settle(shard.OpReturn, q, c, h, n)
}

// Reject adds the rejection of n contiguous deliveries.
func (t *Tx) Reject(q *shard.Queue, c *shard.Consumer, h queue.Handle, n int) {
	t.settle(shard.OpReject, q, c, h, n)
}

func (t *Tx) settle(kind shard.OpKind, q *shard.Queue, c *shard.Consumer, h queue.Handle, n int) {
	t.add(q.Home(), shard.Op{Kind: kind, Queue: q, Consumer: c, Handle: h, N: uint32(n)})
}

// Commit applies the transaction and returns once it is durable. After ErrRejected (a full queue
// rejects a message, or the queue of a message with MustArrive is gone) or ErrTooLarge nothing of
// it has happened. After ErrLogFailed either all of it exists after a restart, or nothing.
func (t *Tx) Commit() error {
	s := t.s
	s.Flush()
	if err := t.prepare(); err != nil {
		return err
	}
	if err := t.AwaitRoom(context.Background()); err != nil {
		return err
	}
	left := s.b.groupBytes - int(t.bytes())
	switch {
	case len(t.parts)+len(t.piggybacks) == 0:
		return s.AwaitRemovals() // the message to publish reaches no queue
	case left < 0:
		return &failure.Error{Err: failure.ErrTooLarge, Kind: "transaction"}
	case len(t.parts) == 0:
		return t.piggybacks.record(s.b)
	}
	for i := range t.parts {
		t.parts[i].most = left / len(t.parts)
	}
	if len(t.parts) == 1 && len(t.piggybacks) == 0 {
		err := s.committing.commit(s, &t.parts[0])
		if err == nil {
			t.parts = nil
		}
		return err
	}
	g := &txGroup{b: s.b, want: len(t.parts), piggybacks: t.piggybacks, machines: s.b.machines.With(t.piggybacks.entries()), result: make(chan error, 1)}
	g.cond = sync.NewCond(&g.mu)
	owes, ok := s.submitAll(len(t.parts), func(i int) (*shard.Shard, shard.Op) {
		p := &t.parts[i]
		p.group = g
		return p.shard, shard.Op{Kind: shard.OpRun, Extra: p}
	})
	if !ok {
		g.refuse()
		return failure.ErrClosed
	}
	if owes {
		s.b.set.Commit()
		g.machines.Visit()
	}
	return <-g.result
}

// committing holds what a session reuses to commit transactions of one part.
type committing struct {
	result chan error  // 1 slot; nil before the first
	answer func(error) // sends to it
	spare  []shard.Op  // of the last transaction, for the next one
}

// spareOps is the largest capacity of a spare that is kept.
const spareOps = 64

// commit hands the only part of a transaction to its shard. No other shard takes part, so many
// transactions can share an entry of the log, which is written atomically.
func (c *committing) commit(s *Session, p *txPart) error {
	if c.result == nil {
		result := make(chan error, 1)
		c.result, c.answer = result, func(err error) { result <- err }
	}
	p.done = c.answer
	owes, ok := p.shard.Submit(&s.client, shard.Op{Kind: shard.OpRun, Extra: p}, true)
	if !ok {
		return failure.ErrClosed
	}
	if owes {
		s.b.set.Commit()
	}
	err := <-c.result
	switch {
	case err == nil:
		clear(p.ops)
		if cap(p.ops) <= spareOps {
			c.spare = p.ops[:0]
		}
	case !errors.Is(err, failure.ErrRejected):
		err = failure.LogFailed("transaction", err)
	}
	return err
}

// Run executes one shard's part.
func (p *txPart) Run(sh *shard.Shard) {
	if p.group != nil {
		p.group.run(p, sh)
		return
	}
	if !shard.Admits(p.ops, p.most) {
		p.done(failure.ErrRejected)
		return
	}
	if p.bytes > shardlog.EntryBytes {
		sh.Log().Propose() // so that the entry is no larger than necessary
	}
	sh.Apply(p.ops)
	sh.Log().WhenRecorded(p.done)
}

// txGroup coordinates the shards of one transaction: first each votes, then each applies its part
// in a separate entry, and the last to finish hands all the entries to the log as one atomic group.
// All shards see transactions in the same order, so they cannot deadlock.
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

// refuse makes the group fail. Shards that wait for votes continue.
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

// run executes one shard's part of a transaction over several.
func (g *txGroup) run(p *txPart, sh *shard.Shard) {
	if !g.vote(shard.Admits(p.ops, p.most)) {
		g.finish(failure.ErrRejected)
		return
	}
	sh.BeginPart(nil)
	sh.Apply(p.ops)
	g.arrive(sh)
}

// arrive adds a shard's entry. The last shard appends the group. The others wait for that, so that
// no later entry of theirs precedes it.
func (g *txGroup) arrive(sh *shard.Shard) {
	e, done := sh.EndPart()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shards = append(g.shards, sh.ID)
	if done != nil {
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
	g.b.proposeGroup(sh, g.shards, g.entries, g.dones, g.piggybacks, g.finish)
}

// MaxGroupBytes returns the maximum of what a transaction may publish (Options.MaxGroupBytes).
func (b *Broker) MaxGroupBytes() int { return b.groupBytes }
