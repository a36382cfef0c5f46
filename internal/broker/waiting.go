package broker

import (
	"context"
	"errors"
	"sync"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/failure"
)

// awaitable is a command that Await can wait for.
type awaitable interface {
	Command
	// Got reports, after a Run without an error, whether the command got something. If it returns
	// false, Run must have changed nothing.
	Got() bool
}

// waiter is one call of Await, which ends when one of its commands gets something. It has a turn at
// the queue of each command.
//
// Lock order: a shard holds mu while it runs a command of the waiter, so code that holds mu must
// not wait for a shard.
//
// Invariant: once over is set, no command of the waiter runs again. If served or queueGone is set,
// exactly one value is sent to answer.
type waiter struct {
	turns  []turn
	answer chan error // the changes are durable, or a queue was deleted

	mu        sync.Mutex
	over      bool
	entered   int  // turns that are or were in a waiting line
	served    int  // index of the executed command; -1: none
	queueGone bool // a queue was deleted: Await starts over
	promise   shardlog.Promise
}

// turn is the position of a waiter in the waiting line of one queue.
type turn struct {
	shard.Turn
	w       *waiter
	i       int // index of the command
	command awaitable
	queue   *shard.Queue
	again   bool // an earlier turn was in the line of a deleted queue
}

// Serve implements Waiting.
func (t *turn) Serve(sh *shard.Shard) (over bool) {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	return t.w.over || t.w.serve(sh, t)
}

// Dismiss implements Waiting. The Await starts over.
func (t *turn) Dismiss() {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	if !t.w.over {
		t.w.beginAgain()
	}
}

// Await executes the first of the commands that gets something, and returns its index once its
// changes are durable. If none gets anything, the call waits at all their queues. A queue serves
// the calls that wait at it in order of arrival, before its consumers. A command that fails
// (OnQueue.Err) also ends the call: Await returns its index. If ctx is done first, Await returns
// -1. Errors: ErrLogFailed, and ErrClosed when the session or the broker closes.
//
// Each command must have the method Got() bool, which reports whether its Run got something.
func (s *Session) Await(ctx context.Context, commands ...Command) (int, error) {
	s.Flush()
	ended, err := s.Ended()
	if err != nil {
		return -1, err
	}
	for again := false; ; again = true {
		w := &waiter{turns: make([]turn, 0, len(commands)), answer: make(chan error, 1), served: -1}
		for i, c := range commands {
			o := c.on()
			if s.find(c) != nil {
				break
			}
			w.turns = append(w.turns, turn{w: w, i: i, command: c.(awaitable), queue: o.queue, again: again})
		}
		s.batch.Publishes = false // Await does not wait as publishers do
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
		case w.queueGone:
			s.b.journal.Settle()
		case failed:
			return len(w.turns), nil
		default:
			return -1, nil
		}
	}
}

// Waits reports whether an Await has tried all its commands and none has got anything yet. Any
// goroutine may call it.
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
		sh, to := w.turns[from].queue.Home(), from+1
		for to < len(w.turns) && w.turns[to].queue.Home() == sh {
			to++
		}
		turns := w.turns[from:to]
		if err := s.at(sh, func() { w.enter(sh, turns) }); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// await returns once a command has been executed and its changes are durable, or once ctx, the
// session or the broker has ended.
func (w *waiter) await(ctx context.Context, ended <-chan struct{}) error {
	var err error
	select {
	case err = <-w.answer:
		return err
	case <-ctx.Done():
	case <-ended:
		err = failure.ErrClosed
	case <-w.turns[0].queue.Home().Done:
		err = failure.ErrClosed
	}
	return w.stop(err)
}

// stop makes the waiter stop waiting and returns err. If a command has already been executed, it
// returns the answer of that command.
func (w *waiter) stop(err error) error {
	w.mu.Lock()
	over := w.over
	w.over = true
	w.mu.Unlock()
	if over {
		return <-w.answer
	}
	return err
}

func (w *waiter) isOver() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

// enter runs the commands of one shard, and adds a turn to the line of each queue whose command got
// nothing.
func (w *waiter) enter(sh *shard.Shard, turns []turn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range turns {
		t := &turns[i]
		switch {
		case w.over:
			return
		case shard.ContextOf(t.queue).Gone():
			w.beginAgain()
			return
		case !w.serve(sh, t):
			t.Of = t
			t.queue.Wait(&t.Turn)
			w.entered++
		}
	}
}

// serve runs the command of a turn, and reports whether the turn is over. It is not if the command
// got nothing. mu is held.
func (w *waiter) serve(sh *shard.Shard, t *turn) bool {
	o := t.command.on()
	o.Err = runOn(shard.ContextOf(t.queue), t.command)
	if (t.Waits() || t.again) && t.otherKind() && errors.Is(o.Err, failure.ErrWrongKind) {
		o.Err = nil // only a new call fails for that
		return false
	}
	if o.Err == nil && !t.command.Got() {
		return false
	}
	if errors.Is(o.Err, ErrFindAgain) { // another queue of the command is gone
		w.beginAgain()
		return true
	}
	w.over, w.served = true, t.i
	w.promise.Begin(w)
	w.promise.Join(sh.Log())
	w.promise.End()
	return true
}

// otherKind reports whether the queue has become a stream and the command is not for streams, or
// vice versa. The turn then stays in the line; a command that reads for a group fails.
func (t *turn) otherKind() bool {
	stream := shard.ContextOf(t.queue).Content().Stream != nil
	switch t.command.(type) {
	case awaitsStream:
		return !stream
	case ofStreams:
		return false
	}
	return stream
}

// Tell reports that the served command's changes are durable.
func (w *waiter) Tell(err error) {
	if err != nil {
		err = failure.LogFailed("queue", err)
	}
	w.answer <- err
}

// beginAgain ends the wait because a queue was deleted. mu is held.
func (w *waiter) beginAgain() {
	w.over, w.queueGone = true, true
	w.answer <- nil
}

// leave takes the remaining turns out of their lines.
func (w *waiter) leave() {
	if w.entered == 0 || len(w.turns) == 1 && w.served >= 0 { // no turn is left, or the shard that served it has removed it
		return
	}
	for i := range w.turns {
		t := &w.turns[i]
		if i > 0 && w.turns[i-1].queue.Home() == t.queue.Home() {
			continue // the turn is dropped with that queue
		}
		t.queue.Home().Post(func() {
			for j := i; j < len(w.turns) && w.turns[j].queue.Home() == t.queue.Home(); j++ {
				t.queue.Home().LeaveRow(w.turns[j].queue, &w.turns[j].Turn)
			}
		})
	}
}
