package shard

import "sync"

// inboxOps is how many ops may wait at a shard before a session that brings more is held back. Ops
// of the broker itself are never held back.
const inboxOps = 4096

// inboxBytes is how much the messages among them may take.
const inboxBytes = 8 << 20

// inbox hands ops to a shard: many producers, one consumer that takes all that
// has gathered by swapping two slices. Order per producer is kept. It also says
// which goroutine that consumer is: the one that has the shard (inline.go).
//
// Invariant: while there are ops, a goroutine runs the shard, or the shard's own was told to wake.
type inbox struct {
	mu        sync.Mutex
	room      *sync.Cond // a swap happened
	ops       []Op
	size      int // bytes of the messages in ops
	shut      bool
	taken     bool          // a goroutine runs the shard
	submitter *Client       // that called submit last
	alarm     int64         // when its goroutine wakes by itself, unix ms
	wake      chan struct{} // 1 slot: there is something for its goroutine
}

func newInbox() *inbox {
	in := &inbox{wake: make(chan struct{}, 1)}
	in.room = sync.NewCond(&in.mu)
	return in
}

// push adds ops for the shard; false when the shard has stopped. With wait it blocks while the
// inbox is full.
func (in *inbox) push(ops []Op, wait bool) bool {
	in.mu.Lock()
	ok := in.add(ops, wait)
	idle := ok && !in.taken && len(in.ops) == len(ops)
	in.mu.Unlock()
	if idle {
		in.signal()
	}
	return ok
}

// pushBatch is push by addBatch, and blocks while the inbox is full.
func (in *inbox) pushBatch(batch []Op) (next []Op) {
	in.mu.Lock()
	n := len(batch)
	next, ok := in.addBatch(batch, true)
	idle := ok && !in.taken && len(in.ops) == n
	in.mu.Unlock()
	if idle {
		in.signal()
	}
	return next
}

// add is push without the wake-up. mu is held.
func (in *inbox) add(ops []Op, wait bool) bool {
	if !in.admit(ops, wait) {
		return false
	}
	in.ops = append(in.ops, ops...)
	return true
}

// swapOps is how many ops make a swap cheaper than a copy.
const swapOps = 16

// addBatch is add for a slice that the caller reuses; next is the one to fill next. An empty inbox
// takes a large batch as it is and returns its own slice, so that the ops are not copied.
func (in *inbox) addBatch(batch []Op, wait bool) (next []Op, ok bool) {
	if ok = in.admit(batch, wait); ok && len(in.ops) == 0 && len(batch) >= swapOps {
		next, in.ops = in.ops, batch
		return next, true
	}
	if ok {
		in.ops = append(in.ops, batch...)
	}
	clear(batch)
	return batch[:0], ok
}

// admit counts ops that are about to be added; false when the inbox is shut.
func (in *inbox) admit(ops []Op, wait bool) bool {
	for wait && (len(in.ops) >= inboxOps || in.size >= inboxBytes) && !in.shut {
		in.room.Wait()
	}
	if in.shut {
		return false
	}
	for i := range ops {
		in.size += len(ops[i].Env)
	}
	return true
}

// offer is push for an op that may be lost: a full inbox does not take it.
func (in *inbox) offer(o Op) bool {
	in.mu.Lock()
	full := len(in.ops) >= inboxOps || in.size >= inboxBytes
	in.mu.Unlock()
	return !full && in.push([]Op{o}, false)
}

func (in *inbox) signal() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// take swaps what has gathered for the empty slice spare.
func (in *inbox) take(spare []Op) []Op {
	in.mu.Lock()
	ops := in.ops
	in.ops, in.size = spare[:0], 0
	if len(ops) > 0 {
		in.room.Broadcast()
	}
	in.mu.Unlock()
	return ops
}

// enter has the shard's goroutine run the shard; false when another goroutine does, which wakes it
// by leave.
func (in *inbox) enter() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.taken {
		in.alarm = noTime
		return false
	}
	in.taken = true
	return true
}

// leave ends a session's run of the shard, and wakes the shard's goroutine when there are ops left,
// or when timer (unix ms) is before its alarm.
func (in *inbox) leave(timer int64) {
	in.mu.Lock()
	in.taken = false
	wake := len(in.ops) > 0 || in.shut || timer < in.alarm
	in.mu.Unlock()
	if wake {
		in.signal()
	}
}

// rest ends the run of the shard by its goroutine, which then sleeps until timer (unix ms); false
// when there are ops to do first.
func (in *inbox) rest(timer int64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.ops) > 0 {
		return false
	}
	in.taken, in.alarm = false, timer
	return true
}

// close refuses further ops; those that are inside are still done.
func (in *inbox) close() {
	in.mu.Lock()
	in.shut = true
	in.room.Broadcast()
	in.mu.Unlock()
	in.signal()
}
