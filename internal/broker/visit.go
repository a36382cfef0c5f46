package broker

import (
	"fmt"
	"runtime/debug"

	"fiveways/internal/storage/store"
)

// A shard is run by its goroutine, or inline by a session that waits for the answer of its op
// anyway (a guest). A trip to another goroutine and back costs a small operation more than all the
// work in it, above all when threads must be woken for it.

// visit hands an op to the shard for a caller that waits for its answer and holds no lock. When the
// shard is idle the caller runs it for one round, with all that has gathered; otherwise whatever
// runs it does the op. ok is false when the shard has stopped. With owes the caller must call
// commit before it waits for anything.
func (sh *shard) visit(s *Session, o op, writes bool) (owes, ok bool) {
	in := sh.inbox
	in.mu.Lock()
	ok = in.add([]op{o}, false)
	return sh.enter(s, ok, writes, false), ok
}

// visitBatch is visit with the ops of a session; the caller is held back while the inbox is full.
// next is the slice to fill next. With lone the caller writes the log also where others came
// between.
func (sh *shard) visitBatch(s *Session, batch []op, lone bool) (next []op, owes bool) {
	in := sh.inbox
	in.mu.Lock()
	next, ok := in.addBatch(batch, true)
	return next, sh.enter(s, ok, true, lone)
}

// enter runs the shard for one round when it is idle and ok. With writes the caller writes the log
// where it was the last one to come, with lone also where others came between. inbox.mu is held,
// and unlocked.
func (sh *shard) enter(s *Session, ok, writes, lone bool) (owes bool) {
	in := sh.inbox
	guest := ok && !in.taken
	alone := in.guest == s
	in.guest = s
	if guest {
		in.taken = true
	}
	in.mu.Unlock()
	if !guest {
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

// ask runs fn at the shard, and returns when that is done. The caller holds no lock.
func (s *Session) ask(sh *shard, fn func()) error {
	done := make(chan struct{})
	owes, ok := sh.visit(s, op{kind: opCall, extra: func() { fn(); close(done) }}, true)
	if !ok {
		return ErrClosed
	}
	if owes {
		s.b.commit()
	}
	<-done
	return nil
}

// commit writes what inline runs of shards have proposed and calls what waits for it, unless
// another goroutine is writing.
func (b *Broker) commit() {
	defer deadly()
	b.wal.Commit()
}

// deadly makes a panic of the engine end the process also on the goroutine of a connection, whose
// own panics end the connection: here others would wait for ever.
func deadly() {
	if p := recover(); p != nil {
		text := fmt.Sprintf("%v\n\n%s", p, debug.Stack())
		go panic(text)
		select {}
	}
}
