package shard

import (
	"fmt"
	"runtime/debug"

	"fiveways/internal/storage/store"
)

// A shard runs on its own goroutine, or inline on the goroutine of a session that waits for the
// answer of an op anyway. A switch to another goroutine and back costs more than all the work of a
// small op, above all when threads must be woken for it.

// Submit hands an op to the shard for a caller that waits for its answer and holds no lock. When
// the shard is idle the caller runs it inline for one round, with all that has gathered; otherwise
// the goroutine that runs it does the op. ok is false when the shard has stopped. With owes the
// caller must call commit before it waits for anything.
func (sh *Shard) Submit(s *Client, o Op, writes bool) (owes, ok bool) {
	in := sh.inbox
	in.mu.Lock()
	ok = in.add([]Op{o}, false)
	return sh.runIfIdle(s, ok, writes, false), ok
}

// SubmitBatch is submit with the ops of a session; the caller is held back while the inbox is full.
// next is the slice to fill next. With lone the caller writes the log also where ops of other
// sessions came between.
func (sh *Shard) SubmitBatch(s *Client, batch []Op, lone bool) (next []Op, owes bool) {
	in := sh.inbox
	in.mu.Lock()
	next, ok := in.addBatch(batch, true)
	return next, sh.runIfIdle(s, ok, true, lone)
}

// runIfIdle runs the shard for one round when it is idle and ok. With writes the caller writes the
// log if it also submitted last before this, with lone in any case. inbox.mu is held, and unlocked.
func (sh *Shard) runIfIdle(s *Client, ok, writes, lone bool) (owes bool) {
	in := sh.inbox
	idle := ok && !in.taken
	alone := in.submitter == s
	in.submitter = s
	if idle {
		in.taken = true
	}
	in.mu.Unlock()
	if !idle {
		return false
	}
	defer Deadly()
	sh.log.WriteInline(writes && (alone || lone || sh.set.Sync == store.SyncOS))
	sh.round()
	owes = sh.log.EndInline()
	in.leave(sh.wake())
	return owes
}

// Deadly ends the process when the engine panics on the goroutine of a connection. A panic there
// would only end the connection, and others would wait for ever.
func Deadly() {
	if p := recover(); p != nil {
		text := fmt.Sprintf("%v\n\n%s", p, debug.Stack())
		go panic(text)
		select {}
	}
}
