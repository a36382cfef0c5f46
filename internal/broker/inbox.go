package broker

import "sync"

// inboxOps is how many ops may wait at a shard before a session that brings
// more is held back. Ops of the broker itself are never held back.
const inboxOps = 4096

// inboxBytes is how much the messages among them may take.
const inboxBytes = 8 << 20

// inbox hands ops to a shard: many producers, one consumer that takes all that
// has gathered by swapping two slices. Order per producer is kept.
type inbox struct {
	mu   sync.Mutex
	room *sync.Cond // a swap happened
	ops  []op
	size int // bytes of the messages in ops
	shut bool
	wake chan struct{} // 1 slot: there is something
}

func newInbox() *inbox {
	in := &inbox{wake: make(chan struct{}, 1)}
	in.room = sync.NewCond(&in.mu)
	return in
}

// push adds ops for the shard; it reports false when the shard has stopped.
// With wait it holds the caller back while the inbox is full.
func (in *inbox) push(ops []op, wait bool) bool {
	in.mu.Lock()
	for wait && (len(in.ops) >= inboxOps || in.size >= inboxBytes) && !in.shut {
		in.room.Wait()
	}
	if in.shut {
		in.mu.Unlock()
		return false
	}
	for i := range ops {
		in.size += len(ops[i].env)
	}
	first := len(in.ops) == 0
	in.ops = append(in.ops, ops...)
	in.mu.Unlock()
	if first {
		in.signal()
	}
	return true
}

func (in *inbox) signal() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// take swaps what has gathered for the empty slice spare.
func (in *inbox) take(spare []op) []op {
	in.mu.Lock()
	ops := in.ops
	in.ops, in.size = spare[:0], 0
	if len(ops) > 0 {
		in.room.Broadcast()
	}
	in.mu.Unlock()
	return ops
}

// close refuses further ops; what is inside is still taken.
func (in *inbox) close() {
	in.mu.Lock()
	in.shut = true
	in.room.Broadcast()
	in.mu.Unlock()
	in.signal()
}
