// Package batch collects the ops of a session, and hands them to the shards together.
package batch

import (
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
)

// fewOps is the most ops of one read that FlushFew executes itself: more are worth a switch to
// another goroutine.
const fewOps = 16

// Batch is what a session has collected since the last flush. It belongs to the session's
// goroutine.
type Batch struct {
	Publishes bool  // it contains a publish
	Hold      int64 // ns to wait after the flush, because the consumers of a target are behind
	Unheld    bool  // nothing holds the session back, except a full inbox

	set   *shard.Set
	by    *shard.Client
	each  []part // one per shard
	parts []int  // those of them with ops
}

// part is what was collected for one shard.
type part struct {
	shard *shard.Shard
	ops   []shard.Op
}

// Init prepares the batch for a session.
func (b *Batch) Init(set *shard.Set, by *shard.Client) { b.set, b.by = set, by }

// Add adds an op.
func (b *Batch) Add(sh *shard.Shard, o shard.Op) {
	if b.each == nil {
		b.each = make([]part, len(b.set.All))
	}
	i := int(sh.ID) - 1
	p := &b.each[i]
	if len(p.ops) == 0 {
		p.shard = sh
		b.parts = append(b.parts, i)
	}
	p.ops = append(p.ops, o)
}

// Flush hands over the collected ops. It holds the session back while the inbox of a shard is full,
// and a publisher also while the log is behind or memory is short.
func (b *Batch) Flush() { b.flush(b.send) }

// FlushInline is Flush that runs idle shards and the committer on the caller's goroutine, which
// saves two context switches. The caller must not hold a lock that a Sink or a Confirmer takes:
// both may run before it returns.
func (b *Batch) FlushInline() { b.flush(func() { b.runInline(true) }) }

// FlushFew is FlushInline if few ops were collected, for shards with little to do, and nothing
// holds the session back. Otherwise it does nothing and returns false.
func (b *Batch) FlushFew() bool {
	for _, i := range b.parts {
		if p := &b.each[i]; len(p.ops) > fewOps || !p.shard.Quiet() {
			return false
		}
	}
	if !b.Unheld && (b.Hold > 0 || b.Publishes && b.set.Flow.Holds()) {
		return false
	}
	b.runInline(false)
	return true
}

// flush hands over the collected ops with hand.
func (b *Batch) flush(hand func()) {
	if len(b.parts) == 0 {
		return
	}
	if b.Publishes && !b.Unheld {
		b.set.Flow.Await()
	}
	hand()
	if b.Hold > 0 && !b.Unheld {
		time.Sleep(time.Duration(b.Hold))
	}
	b.Hold = 0
}

// send leaves the ops to the goroutines of the shards.
func (b *Batch) send() {
	for _, i := range b.parts {
		p := &b.each[i]
		p.ops = p.shard.SendBatch(p.ops)
	}
	b.parts, b.Publishes = b.parts[:0], false
}

// runInline executes the ops on this goroutine, for shards that are idle. waits says that the
// client does nothing until it has its answer.
func (b *Batch) runInline(waits bool) {
	writes := false
	for _, i := range b.parts {
		p := &b.each[i]
		var owes bool
		p.ops, owes = p.shard.SubmitBatch(b.by, p.ops, waits)
		writes = writes || owes
	}
	b.parts, b.Publishes = b.parts[:0], false
	if writes {
		b.set.Commit()
	}
}

// Idle frees memory that only a busy session needs.
func (b *Batch) Idle() { b.each, b.parts = nil, nil }
