package broker

import (
	"context"
	"errors"
	"sync"

	"fiveways/internal/core/failure"
)

// awaitable is a command that can be waited for.
type awaitable interface {
	Command
	// Got tells, after a run without an error, whether there was something for it; if not, the run
	// has changed nothing.
	Got() bool
}

// waiter is somebody who waits until one of several commands gets something. It has a turn at the
// queue of each.
//
// Lock order: a shard that does a command for it holds mu meanwhile, and nothing that is waited for
// under mu needs a shard.
type waiter struct {
	turns []turn
	told  chan error // 1 slot: what was done for it is durable, or a queue is gone

	mu      sync.Mutex
	over    bool // nobody does anything for it any more
	lined   int  // turns that are in a row, or were
	served  int  // the command that was done, -1 none
	gone    bool // a queue was deleted: it is to begin again
	promise promise
}

// turn is the place of a waiter in the row of those who wait at a queue. All but the first two
// belong to the queue's shard.
type turn struct {
	w          *waiter
	i          int // of the command
	command    awaitable
	queue      *Queue
	prev, next *turn
	waits      bool // it is in the row
	again      bool // it was in a row before, of a queue that is gone
}

// row is who waits at a queue, who came first is first.
type row struct{ first, last *turn }

func (r *row) add(t *turn) {
	t.waits, t.prev, t.next = true, r.last, nil
	if r.last != nil {
		r.last.next = t
	} else {
		r.first = t
	}
	r.last = t
}

func (r *row) remove(t *turn) {
	if !t.waits {
		return
	}
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		r.first = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else {
		r.last = t.prev
	}
	t.waits, t.prev, t.next = false, nil, nil
}

// Await does the first of the commands that gets something, and returns its place among them when
// what it did is durable. While none does it waits at all their queues, where those who wait are
// served in the order in which they came and before consumers. A command that fails (OnQueue.Err)
// ends it too. The end of ctx ends it with -1. Errors: ErrLogFailed, ErrClosed, that of the
// session's end too.
//
// The commands are Pop, Move and others that say so.
func (s *Session) Await(ctx context.Context, commands ...Command) (int, error) {
	s.Flush()
	ended, err := s.ending()
	if err != nil {
		return -1, err
	}
	for again := false; ; again = true {
		w := &waiter{turns: make([]turn, 0, len(commands)), told: make(chan error, 1), served: -1}
		for i, c := range commands {
			o := c.on()
			if s.find(c) != nil {
				break
			}
			w.turns = append(w.turns, turn{w: w, i: i, command: c.(awaitable), queue: o.queue, again: again})
		}
		s.pub = false // a wait is no moment to hold anybody back
		failed := len(w.turns) < len(commands)
		err := w.tryAll(s)
		switch {
		case err != nil:
		case failed:
			err = w.stop(nil)
		default:
			s.waiter.Store(w)
			err = w.await(ctx, ended)
			s.waiter.Store(nil)
		}
		w.leave()
		switch {
		case err != nil:
			return -1, err
		case w.served >= 0:
			s.finishAll(commands[w.served : w.served+1])
			return w.served, nil
		case w.gone:
			s.b.journal.Settle()
		case failed:
			return len(w.turns), nil
		default:
			return -1, nil
		}
	}
}

// Waits reports whether an Await has tried all its commands and nothing has been done for it yet.
// Any goroutine may call it.
func (s *Session) Waits() bool {
	w := s.waiter.Load()
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.over
}

// tryAll tries all commands in their order.
func (w *waiter) tryAll(s *Session) error {
	for from := 0; from < len(w.turns) && !w.isOver(); {
		sh, to := w.turns[from].queue.shard, from+1
		for to < len(w.turns) && w.turns[to].queue.shard == sh {
			to++
		}
		turns := w.turns[from:to]
		if err := s.ask(sh, func() { w.line(sh, turns) }); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// await waits until it is served, or it is time to leave.
func (w *waiter) await(ctx context.Context, ended <-chan struct{}) error {
	var err error
	select {
	case err = <-w.told:
		return err
	case <-ctx.Done():
	case <-ended:
		err = ErrClosed
	case <-w.turns[0].queue.shard.done:
		err = ErrClosed
	}
	return w.stop(err)
}

// stop ends the wait with err, unless it is over.
func (w *waiter) stop(err error) error {
	w.mu.Lock()
	over := w.over
	w.over = true
	w.mu.Unlock()
	if over {
		return <-w.told
	}
	return err
}

func (w *waiter) isOver() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

// line tries commands of one shard, and takes a turn at the queue of each that gets nothing.
func (w *waiter) line(sh *shard, turns []turn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range turns {
		t := &turns[i]
		switch {
		case w.over:
			return
		case t.queue.gone:
			w.beginAgain()
			return
		case !w.serve(sh, t):
			t.queue.waiting.add(t)
			w.lined++
		}
	}
}

// serve does the command of a turn; false when it gets nothing. mu is held.
func (w *waiter) serve(sh *shard, t *turn) bool {
	o := t.command.on()
	o.Err = sh.runOn(t.command, t.queue)
	if (t.waits || t.again) && t.otherKind() && errors.Is(o.Err, ErrWrongKind) {
		o.Err = nil // it is none of its business
		return false
	}
	if o.Err == nil && !t.command.Got() {
		return false
	}
	if errors.Is(o.Err, FindAgain) { // another queue that it is about
		w.beginAgain()
		return true
	}
	w.over, w.served = true, t.i
	w.promise.begin(w)
	w.promise.join(sh)
	w.promise.end()
	return true
}

// otherKind reports whether the queue is a stream now, and the command is not about one, or the
// other way round. A waiter goes on waiting then; readers of a group are told.
func (t *turn) otherKind() bool {
	switch t.command.(type) {
	case awaitsStream:
		return t.queue.content.Stream == nil
	case ofStreams:
		return false
	}
	return t.queue.content.Stream != nil
}

func (w *waiter) tell(err error) {
	if err != nil {
		err = failure.LogFailed("queue", err)
	}
	w.told <- err
}

// beginAgain ends the wait because a queue is gone. mu is held.
func (w *waiter) beginAgain() {
	w.over, w.gone = true, true
	w.told <- nil
}

// leave takes the turns that are left out of their rows.
func (w *waiter) leave() {
	if w.lined == 0 || len(w.turns) == 1 && w.served >= 0 { // it never waited, or who served it took its only turn out
		return
	}
	for i := range w.turns {
		t := &w.turns[i]
		if i > 0 && w.turns[i-1].queue.shard == t.queue.shard {
			continue // it went with that one
		}
		t.queue.shard.post(func() {
			for j := i; j < len(w.turns) && w.turns[j].queue.shard == t.queue.shard; j++ {
				t.queue.shard.leaveRow(&w.turns[j])
			}
		})
	}
}

// leaveRow ends the wait at a queue, which may go for lack of use from now on.
func (sh *shard) leaveRow(t *turn) {
	q := t.queue
	q.waiting.remove(t)
	if q.Policy().Expires > 0 && !q.gone {
		q.used(sh.now)
		sh.mark(q)
	}
}

// serveAll serves those who wait at queues where something has happened, before anything else does.
func (sh *shard) serveAll() {
	for i := 0; i < len(sh.waking); i++ {
		sh.serveWaiting(sh.waking[i])
	}
	clear(sh.waking)
	sh.waking = sh.waking[:0]
}

// serveWaiting does what those who wait at a queue wait for, as far as there is something for them.
func (sh *shard) serveWaiting(q *Queue) {
	for t := q.waiting.first; t != nil && (q.wakeAll || q.state.Ready() > 0); {
		next := t.next
		t.w.mu.Lock()
		if t.w.over || t.w.serve(sh, t) {
			q.waiting.remove(t)
		}
		t.w.mu.Unlock()
		t = next
	}
	q.waking, q.wakeAll = false, false
}

// dismissWaiting has all who wait at a queue that has gone begin again.
func (q *Queue) dismissWaiting() {
	for t := q.waiting.first; t != nil; t = q.waiting.first {
		q.waiting.remove(t)
		t.w.mu.Lock()
		if !t.w.over {
			t.w.beginAgain()
		}
		t.w.mu.Unlock()
	}
}
