package broker

import (
	"sync"

	"fiveways/internal/core/queue"
	"fiveways/internal/storage/store"
)

// Tx is a set of publishes and settles that happen together or not at all,
// over any number of queues: they are one atomic group of the log.
type Tx struct {
	s   *Session
	ops map[*shard][]op
}

// NewTx begins a transaction. Dropping it undoes nothing, for nothing has
// happened.
func (s *Session) NewTx() *Tx { return &Tx{s: s, ops: map[*shard][]op{}} }

// Publish adds a message; its Confirm is not used.
func (t *Tx) Publish(p *Publish) {
	o := p.op()
	o.confirm = nil
	p.Targets.each(o, func(sh *shard, o op) { t.ops[sh] = append(t.ops[sh], o) })
}

// Ack adds the end of n contiguous deliveries.
func (t *Tx) Ack(q *Queue, c *Consumer, h queue.Handle, n int) { t.settle(opAck, q, c, h, n) }

// Requeue adds the return of n contiguous deliveries.
func (t *Tx) Requeue(q *Queue, c *Consumer, h queue.Handle, n int) { t.settle(opRequeue, q, c, h, n) }

// Return adds the return of n contiguous deliveries that nobody decided on.
func (t *Tx) Return(q *Queue, c *Consumer, h queue.Handle, n int) { t.settle(opReturn, q, c, h, n) }

// Reject adds the refusal of n contiguous deliveries.
func (t *Tx) Reject(q *Queue, c *Consumer, h queue.Handle, n int) { t.settle(opReject, q, c, h, n) }

func (t *Tx) settle(kind opKind, q *Queue, c *Consumer, h queue.Handle, n int) {
	t.ops[q.shard] = append(t.ops[q.shard], op{kind: kind, queue: q, consumer: c, handle: h, n: uint32(n)})
}

// maxTxBytes bounds what a transaction may bring or dead-letter on one shard,
// and bring to all of them: it is written as one group.
const maxTxBytes = 512 << 20

// bytes is how much of the log the publishes will take.
func (t *Tx) bytes() (sum int64) {
	for _, ops := range t.ops {
		for i := range ops {
			sum += int64(len(ops[i].env))
		}
	}
	return sum
}

// Commit applies the transaction and returns when it is durable. With
// ErrRejected (a full queue refused a message) or ErrTooLarge nothing of it has
// happened; with ErrLogFailed all of it is there after a restart, or nothing.
func (t *Tx) Commit() error {
	s := t.s
	s.Flush()
	s.b.flow.await()
	if len(t.ops) == 0 {
		return nil
	}
	if t.bytes() > maxTxBytes {
		return &Error{Err: ErrTooLarge, Kind: "transaction"}
	}
	g := &txGroup{b: s.b, want: len(t.ops), result: make(chan error, 1)}
	g.cond = sync.NewCond(&g.mu)
	s.b.txMu.Lock()
	for _, sh := range s.b.shards { // one order for all transactions
		if ops := t.ops[sh]; ops != nil && !sh.inbox.push([]op{{kind: opTx, extra: &txPart{g, ops}}}, false) {
			s.b.txMu.Unlock()
			g.refuse()
			return ErrClosed
		}
	}
	s.b.txMu.Unlock()
	return <-g.result
}

// txPart is a transaction's share of one shard.
type txPart struct {
	group *txGroup
	ops   []op
}

// txGroup is where the shards of one transaction meet: first each votes, then
// each applies its part into an entry of its own, and the last to arrive hands
// all the entries to the log as one atomic group. All shards see transactions
// in the same order, so they cannot wait for each other in a circle.
type txGroup struct {
	b      *Broker
	want   int
	result chan error

	mu      sync.Mutex
	cond    *sync.Cond
	votes   int
	refused bool
	entries []store.Entry
	dones   []func(error)
}

// refuse makes the group fail; those who wait for votes go on.
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
	default: // decided already
	}
}

// run is one shard's part.
func (p *txPart) run(sh *shard) {
	g := p.group
	if !g.vote(p.admissible()) {
		g.finish(ErrRejected)
		return
	}
	sh.propose() // what came before is an entry of its own
	sh.inTx = true
	for i := range p.ops {
		sh.do(&p.ops[i])
		sh.doLocal()
	}
	sh.inTx = false
	pr := sh.entry
	empty := len(pr.data) == 0 && len(pr.settled) == 0
	done := pr.finished
	var e store.Entry
	if !empty {
		pr.wait = max(pr.wait, sh.b.opts.Sync.Wait())
		e = sh.seal()
	}
	g.arrive(e, done, empty)
}

// admissible tells whether no full queue would refuse one of the messages,
// counting those before it in the transaction.
func (p *txPart) admissible() bool {
	type load struct{ n, bytes int64 }
	loads := map[*Queue]load{}
	dead := int64(0)
	for i := range p.ops {
		o := &p.ops[i]
		if o.mayKill() && !o.queue.gone && o.queue.Policy.DeadLetter {
			for k := range int(o.n) {
				if it, status := o.queue.state.Get(o.handle + queue.Handle(k)); status != queue.Gone {
					dead += int64(it.Size)
				}
			}
			if dead > maxTxBytes {
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
			if q.gone || !q.Policy.limited() || q.Policy.Overflow == DropHead {
				continue
			}
			l := loads[q]
			l.n++
			l.bytes += int64(len(o.env.Body()))
			loads[q] = l
			if m := q.Policy.MaxLength; m >= 0 && int64(q.state.Ready())+l.n > m {
				return false
			}
			if m := q.Policy.MaxLengthBytes; m >= 0 && q.state.ReadyBytes()+l.bytes > m {
				return false
			}
		}
	}
	return true
}

// mayKill tells whether the op can end in dead letters.
func (o *op) mayKill() bool {
	return o.kind == opReject || (o.kind == opRequeue || o.kind == opReturn) && o.queue.Policy.DeliveryLimit >= 0
}

// arrive hands in a shard's entry. The last one appends the group; the others
// wait until it has, so that no later entry of theirs can come before.
func (g *txGroup) arrive(e store.Entry, done func(error), empty bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
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
	if len(g.entries) == 0 {
		g.finish(nil)
		return
	}
	dones := g.dones
	g.b.store.Append(g.entries, func(err error) {
		for _, d := range dones {
			d(err)
		}
		if err != nil {
			err = logFailed("transaction", err)
		}
		g.finish(err)
	})
}
