package grpcwire

import (
	"context"

	"google.golang.org/grpc"
)

// The number of large answers in memory is limited per connection: a handler whose answer may be
// large takes an answer slot first, and holds it until the client has taken the answer. For a
// client that reads nothing at most maxAnswerSlots answers are made; further calls with large
// answers wait, those with small ones go on. Without the limit the answers of all open calls would
// be made at once and wait in memory.

const (
	maxAnswerSlots = 64 // of one connection
	// maxMaking is how many answers of one connection are made at a time: how large they become is
	// known only then, and together with fullAnswers they are not to use up mostQueued, above which
	// no call is taken.
	maxMaking = 16
	// fullAnswers is how many bytes of answers may wait for a client before no further slot is
	// granted.
	fullAnswers = 16 << 20
)

// answerSlots are the slots of one connection.
type answerSlots struct {
	taken   int
	making  int // of taken, those of answers that are not made yet
	waiting []*Call
}

// answerSlot is a slot that a call holds or waits for.
type answerSlot struct {
	mine   chan struct{} // closed when the call has it
	has    bool
	making bool // its answer is not made yet
}

// AwaitAnswerSlot waits until the call of ctx may make a large answer. It must not be used by
// handlers that wait for other clients. On another transport it does not wait. Errors: that of ctx.
func AwaitAnswerSlot(ctx context.Context) error {
	call, ok := grpc.ServerTransportStreamFromContext(ctx).(*Call)
	if !ok {
		return nil
	}
	mine := call.c.joinSlots(call)
	select {
	case <-mine:
		return nil
	default:
	}
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// joinSlots queues the call for a slot; the result is closed when it holds one.
func (c *conn) joinSlots(call *Call) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call.slot == nil {
		call.slot = &answerSlot{mine: make(chan struct{})}
		c.slots.waiting = append(c.slots.waiting, call)
		c.grantSlots()
	}
	return call.slot.mine
}

// grantSlots grants slots to waiting calls. mu is held.
func (c *conn) grantSlots() {
	ts := &c.slots
	for len(ts.waiting) > 0 && c.mayAnswer() {
		call := ts.waiting[0]
		ts.waiting[0] = nil
		ts.waiting = ts.waiting[1:]
		if call.ended {
			continue
		}
		ts.taken++
		ts.making++
		call.slot.has, call.slot.making = true, true
		close(call.slot.mine)
	}
}

// mayAnswer reports whether there is room for one more large answer. A connection without any may
// always make one, so that it goes on even if other clients fill the shared limit. mu is held.
func (c *conn) mayAnswer() bool {
	ts := &c.slots
	return ts.taken == 0 || ts.taken < maxAnswerSlots && ts.making < maxMaking && !c.answersFull()
}

// answersFull reports whether the clients have not taken so much that no more is to be made. mu is
// held.
func (c *conn) answersFull() bool {
	return c.send.queued+c.out.size() > fullAnswers || c.srv.queued.Load() > c.srv.o.MaxQueuedBytes
}

// answerMade notes that the answer of a call is made, or that none will be. mu is held.
func (c *conn) answerMade(call *Call) {
	if call.slot == nil || !call.slot.making {
		return
	}
	call.slot.making = false
	c.slots.making--
	c.grantSlots()
}

// releaseSlot releases the slot of an ended call. mu is held.
func (c *conn) releaseSlot(call *Call) {
	if call.slot == nil || !call.slot.has {
		return
	}
	if call.slot.has = false; call.slot.making {
		call.slot.making = false
		c.slots.making--
	}
	c.slots.taken--
	c.grantSlots()
}
