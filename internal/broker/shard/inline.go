package shard

import (
	"fmt"
	"runtime/debug"

	"fiveways.dev/fiveways/internal/broker/inbox"
	"fiveways.dev/fiveways/internal/storage/store"
)

// A shard may run inline, on the goroutine of a session. Switching to another goroutine and back
// costs more than all the work of a small op, especially if threads must be woken for it.

// Submit hands an op to the shard for a caller that waits for its answer and holds no lock. If the
// shard is idle, the caller runs it inline for one round, with everything in the inbox. Otherwise
// the goroutine that runs the shard executes the op. ok is false if the shard has stopped. If owes
// is true, the caller must call Set.Commit before it waits for anything.
func (sh *Shard) Submit(by *Client, o Op, writes bool) (owes, ok bool) {
	s := sh.inbox.Submit(by, o, len(o.Env))
	return sh.runIfClaimed(by, s, writes && (s.Again || sh.set.Sync == store.SyncOS)), s.Open
}

// SubmitBatch is Submit for the ops of a session. It blocks the caller while the inbox is full.
// next is the slice to fill next. waits means that the client does nothing until it has the
// answers.
func (sh *Shard) SubmitBatch(by *Client, batch []Op, waits bool) (next []Op, owes bool) {
	lone := len(batch) == 1 // its client is blocked on it and has no other work meanwhile
	next, s := sh.inbox.SubmitBatch(by, batch, messageBytes(batch))
	return next, sh.runIfClaimed(by, s, waits && s.Again || lone || sh.set.Sync == store.SyncOS)
}

// runIfClaimed runs the shard for one round if the caller has claimed it. With writes the caller
// writes the log.
func (sh *Shard) runIfClaimed(by *Client, s inbox.Submitted, writes bool) (owes bool) {
	if !s.Claimed {
		return false
	}
	defer Deadly()
	sh.log.WriteInline(writes)
	sh.inline = by
	sh.round()
	sh.inline = nil
	owes = sh.log.EndInline()
	sh.inbox.Leave(sh.wake())
	by.send()
	return owes
}

// hand gives deliveries to the sink. In an inline round the session sends them after it has left
// the shard, so that no one else waits for a socket.
func (sh *Shard) hand(o *outbox) {
	if out, ok := o.sink.(Output); ok && sh.inline != nil {
		out.Gather(o.list)
		sh.inline.unsent = append(sh.inline.unsent, out)
		return
	}
	o.sink.Deliver(o.list)
}

// send sends the deliveries of the inline round.
func (c *Client) send() {
	for i, out := range c.unsent {
		c.unsent[i] = nil
		out.Send()
	}
	c.unsent = c.unsent[:0]
}

// Quiet reports whether the shard's own goroutine has slept for a while.
func (sh *Shard) Quiet() bool { return sh.inbox.Quiet() }

// messageBytes returns the total size of the messages of ops.
func messageBytes(ops []Op) (n int) {
	for i := range ops {
		n += len(ops[i].Env)
	}
	return n
}

// Deadly ends the process if the engine panics on the goroutine of a connection. Otherwise the
// panic would only end that connection, and others would wait forever.
func Deadly() {
	if p := recover(); p != nil {
		text := fmt.Sprintf("%v\n\n%s", p, debug.Stack())
		go panic(text)
		select {}
	}
}
