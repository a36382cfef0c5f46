package broker

import (
	"fmt"
	"runtime/debug"

	"fiveways/internal/storage/store"
)

// A shard runs on its own goroutine, or inline on the goroutine of a session that waits for the
// answer of an op anyway. A switch to another goroutine and back costs more than all the work of a
// small op, above all when threads must be woken for it.

// submit hands an op to the shard for a caller that waits for its answer and holds no lock. When
// the shard is idle the caller runs it inline for one round, with all that has gathered; otherwise
// the goroutine that runs it does the op. ok is false when the shard has stopped. With owes the
// caller must call commit before it waits for anything.
func (sh *shard) submit(s *Session, o op, writes bool) (owes, ok bool) {
	in := sh.inbox
	in.mu.Lock()
	ok = in.add([]op{o}, false)
	return sh.runIfIdle(s, ok, writes, false), ok
}

// submitBatch is submit with the ops of a session; the caller is held back while the inbox is full.
// next is the slice to fill next. With lone the caller writes the log also where ops of other
// sessions came between.
func (sh *shard) submitBatch(s *Session, batch []op, lone bool) (next []op, owes bool) {
	in := sh.inbox
	in.mu.Lock()
	next, ok := in.addBatch(batch, true)
	return next, sh.runIfIdle(s, ok, true, lone)
}

// runIfIdle runs the shard for one round when it is idle and ok. With writes the caller writes the
// log if it also submitted last before this, with lone in any case. inbox.mu is held, and unlocked.
func (sh *shard) runIfIdle(s *Session, ok, writes, lone bool) (owes bool) {
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
	defer deadly()
	sh.writes = writes && (alone || lone || sh.b.opts.Sync == store.SyncOS)
	sh.round()
	owes = sh.owes
	sh.writes, sh.owes = false, false
	in.leave(sh.wake())
	return owes
}

// at runs fn at the shard, inline if it is idle, and returns when that is done. The caller holds no
// lock. Errors: ErrClosed.
func (s *Session) at(sh *shard, fn func()) error {
	done := make(chan struct{})
	owes, ok := sh.submit(s, op{kind: opCall, extra: func() { fn(); close(done) }}, true)
	if !ok {
		return ErrClosed
	}
	if owes {
		s.b.commit()
	}
	<-done
	return nil
}

// commit writes what inline rounds have proposed and calls what waits for it, unless another
// goroutine is writing.
func (b *Broker) commit() {
	defer deadly()
	b.wal.Commit()
}

// deadly ends the process when the engine panics on the goroutine of a connection. A panic there
// would only end the connection, and others would wait for ever.
func deadly() {
	if p := recover(); p != nil {
		text := fmt.Sprintf("%v\n\n%s", p, debug.Stack())
		go panic(text)
		select {}
	}
}
