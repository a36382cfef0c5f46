// Package inbox hands work to one consumer that may run on any goroutine: on its own, or on that of
// a producer that waits for the outcome anyway.
package inbox

import (
	"sync"
	"time"
)

const (
	// maxOps is how many ops may wait before a producer with more is held back.
	maxOps = 4096
	// maxBytes is how many bytes their messages may take.
	maxBytes = 8 << 20
	// swapOps is the number of ops from which a swap is cheaper than a copy.
	swapOps = 16
	// quietTime is how long the consumer's own goroutine must sleep before it counts as quiet.
	quietTime = 200 * time.Microsecond
)

// Inbox hands ops to a consumer: there are many producers, and one consumer, which takes everything
// at once by swapping two slices. The order of each producer is kept. The Inbox also determines
// which goroutine is the consumer: the one that has claimed it.
//
// Invariant: while there are ops, a goroutine has the claim, or the consumer's own goroutine was
// told to wake.
type Inbox[Op any] struct {
	mu      sync.Mutex
	room    *sync.Cond // a swap happened
	ops     []Op
	size    int // bytes of the messages in ops
	shut    bool
	claimed bool          // a goroutine has claimed it
	last    any           // the producer that called Submit last
	alarm   int64         // when the consumer's own goroutine wakes by itself
	rested  time.Time     // when that goroutine last went to sleep
	wake    chan struct{} // 1 slot: wakes that goroutine
}

// New returns an empty inbox without a consumer.
func New[Op any]() *Inbox[Op] {
	in := &Inbox[Op]{wake: make(chan struct{}, 1)}
	in.room = sync.NewCond(&in.mu)
	return in
}

// Push adds an op whose message takes this many bytes. It returns false if the inbox is closed, and
// never waits.
func (in *Inbox[Op]) Push(o Op, bytes int) bool {
	in.mu.Lock()
	ok := in.add(o, bytes)
	idle := ok && !in.claimed && len(in.ops) == 1
	in.mu.Unlock()
	if idle {
		in.signal()
	}
	return ok
}

// PushBatch adds the ops of a slice, which the caller reuses, and blocks while the inbox is full.
// next is the slice to fill next.
func (in *Inbox[Op]) PushBatch(batch []Op, bytes int) (next []Op) {
	in.mu.Lock()
	n := len(batch)
	next, ok := in.addBatch(batch, bytes)
	idle := ok && !in.claimed && len(in.ops) == n
	in.mu.Unlock()
	if idle {
		in.signal()
	}
	return next
}

// Offer is Push for an op that may be lost: a full inbox does not take it.
func (in *Inbox[Op]) Offer(o Op, bytes int) bool {
	in.mu.Lock()
	full := in.full()
	in.mu.Unlock()
	return !full && in.Push(o, bytes)
}

// Submitted is what became of submitted ops.
type Submitted struct {
	Open    bool // false: the inbox is closed
	Claimed bool // the producer has the claim until it calls Leave
	Again   bool // no other producer has submitted since its last call
}

// Submit is Push for a producer that waits for the outcome. If no goroutine has claimed the inbox,
// the producer does.
func (in *Inbox[Op]) Submit(by any, o Op, bytes int) Submitted {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.submitted(by, in.add(o, bytes))
}

// SubmitBatch is Submit for the ops of a slice, as PushBatch.
func (in *Inbox[Op]) SubmitBatch(by any, batch []Op, bytes int) (next []Op, s Submitted) {
	in.mu.Lock()
	defer in.mu.Unlock()
	next, ok := in.addBatch(batch, bytes)
	return next, in.submitted(by, ok)
}

func (in *Inbox[Op]) submitted(by any, ok bool) Submitted {
	s := Submitted{Open: ok, Claimed: ok && !in.claimed, Again: in.last == by}
	in.last = by
	in.claimed = in.claimed || s.Claimed
	return s
}

// add is Push without the wake-up. The caller holds mu, also for the next three.
func (in *Inbox[Op]) add(o Op, bytes int) bool {
	if in.shut {
		return false
	}
	in.ops = append(in.ops, o)
	in.size += bytes
	return true
}

// addBatch is PushBatch without the wake-up. An empty inbox keeps the slice of a large batch and
// returns its own, so that the ops are not copied.
func (in *Inbox[Op]) addBatch(batch []Op, bytes int) (next []Op, ok bool) {
	for in.full() && !in.shut {
		in.room.Wait()
	}
	if !in.shut {
		in.size += bytes
		if len(in.ops) == 0 && len(batch) >= swapOps {
			next, in.ops = in.ops, batch
			return next, true
		}
		in.ops = append(in.ops, batch...)
	}
	clear(batch)
	return batch[:0], !in.shut
}

func (in *Inbox[Op]) full() bool { return len(in.ops) >= maxOps || in.size >= maxBytes }

func (in *Inbox[Op]) signal() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// Wake receives when there may be something for the consumer's own goroutine.
func (in *Inbox[Op]) Wake() <-chan struct{} { return in.wake }

// Take returns all ops, and puts the empty slice spare in their place.
func (in *Inbox[Op]) Take(spare []Op) []Op {
	in.mu.Lock()
	ops := in.ops
	in.ops, in.size = spare[:0], 0
	if len(ops) > 0 {
		in.room.Broadcast()
	}
	in.mu.Unlock()
	return ops
}

// Never, as an alarm, means none: no other is later.
const Never = 1<<63 - 1

// Enter claims the inbox for the consumer's own goroutine. It returns false if a producer has the
// claim, whose Leave then wakes the goroutine.
func (in *Inbox[Op]) Enter() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.claimed {
		in.alarm = Never
		return false
	}
	in.claimed = true
	return true
}

// Leave ends the claim of a producer. It wakes the consumer's own goroutine if ops are left, or if
// timer is before its alarm.
func (in *Inbox[Op]) Leave(timer int64) {
	in.mu.Lock()
	in.claimed = false
	wake := len(in.ops) > 0 || in.shut || timer < in.alarm
	in.mu.Unlock()
	if wake {
		in.signal()
	}
}

// Rest ends the claim of the consumer's own goroutine, which then sleeps until timer. It returns
// false if there are ops to do first.
func (in *Inbox[Op]) Rest(timer int64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.ops) > 0 {
		return false
	}
	in.claimed, in.alarm, in.rested = false, timer, time.Now()
	return true
}

// Quiet reports whether there are no ops, and the consumer's own goroutine has slept for a while.
// While that goroutine is often at work, waking it gets ops done sooner than a producer that has
// other work, too.
func (in *Inbox[Op]) Quiet() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return !in.claimed && len(in.ops) == 0 && time.Since(in.rested) > quietTime
}

// Close rejects further ops; those inside are still executed.
func (in *Inbox[Op]) Close() {
	in.mu.Lock()
	in.shut = true
	in.room.Broadcast()
	in.mu.Unlock()
	in.signal()
}

// Done reports whether the inbox is closed and all its ops have been taken.
func (in *Inbox[Op]) Done() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.shut && len(in.ops) == 0 && !in.claimed
}

// Len returns how many ops wait.
func (in *Inbox[Op]) Len() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.ops)
}
