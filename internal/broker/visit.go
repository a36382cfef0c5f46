package broker

import (
	"fmt"
	"runtime/debug"

	"fiveways/internal/storage/store"
)

// A shard is run by its goroutine, or by a guest: a session that waits for the answer of its op anyway. One trip to another goroutine and back costs
// a small operation more than all the work in it, above all when threads must be woken for it.

// visit hands an op to the shard for a caller who waits for its answer, and holds no lock. When nobody has the shard the caller runs it for one round,
// with all that has gathered; else whoever has it does the op. ok is false when the shard has stopped. With owes the caller must call commit, before
// he waits for anything.
func (sh *shard) visit(s *Session, o op, writes bool) (owes, ok bool) {
	return sh.visitWith(s, []op{o}, false, writes, false)
}

// visitWith is visit with several ops; with wait the caller is held back while the inbox is full. With writes the caller writes the log where he was the
// last who came, with lone also where others came between.
func (sh *shard) visitWith(s *Session, ops []op, wait, writes, lone bool) (owes, ok bool) {
	in := sh.inbox
	in.mu.Lock()
	ok = in.add(ops, wait)
	guest := ok && !in.taken
	alone := in.guest == s
	in.guest = s
	if guest {
		in.taken = true
	}
	in.mu.Unlock()
	if !guest {
		return false, ok
	}
	defer deadly()
	sh.writes = writes && (alone || lone || sh.b.opts.Sync == store.SyncOS)
	sh.round()
	owes = sh.owes
	sh.writes, sh.owes = false, false
	in.leave(sh.wake())
	return owes, true
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

// commit writes what guests of shards have proposed, and calls back who waits for it: also the caller, unless somebody else is writing.
func (b *Broker) commit() {
	defer deadly()
	b.store.Commit()
}

// deadly makes a panic of the engine end the process also on the goroutine of a connection, whose own panics end the connection: here others would wait
// for ever.
func deadly() {
	if p := recover(); p != nil {
		text := fmt.Sprintf("%v\n\n%s", p, debug.Stack())
		go panic(text)
		select {}
	}
}
