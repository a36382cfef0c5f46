package grpcwire

import (
	"context"

	"google.golang.org/grpc"
)

// The number of large answers in memory is limited per connection. A handler whose answer may be
// large takes an answer slot first, and holds it until the client has received the answer. For a
// client that reads nothing, at most maxAnswerSlots answers are built. Further calls with large
// answers wait, while calls with small answers go on. Without the limit, the answers of all open
// calls would be built at once and wait in memory.

const (
	maxAnswerSlots = 64 // per connection
	// maxMaking is how many answers of one connection are built at a time. The size of an answer is
	// known only when it is built. Together with fullAnswers, these answers must not use up
	// mostQueued, above which no call is accepted.
	maxMaking = 16
	// fullAnswers is how many bytes of answers may wait for a client before further slots are
	// refused.
	fullAnswers = 16 << 20
)

// answerSlots are the slots of one connection.
type answerSlots struct {
	taken   int
	making  int // of taken, the slots whose answers are not built yet
	waiting []*Call
}

// answerSlot is a slot that a call holds or waits for.
type answerSlot struct {
	mine   chan struct{} // closed when the call holds the slot
	has    bool
	making bool // the answer is not built yet
}

// AwaitAnswerSlot waits until the call of ctx may build a large answer. Handlers that wait for
// other clients must not use it. On another transport it does not wait. It returns only the error
// of ctx.
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

// joinSlots queues the call for a slot. It returns a channel that is closed when the call holds
// one.
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

// grantSlots grants slots to waiting calls. The caller holds mu.
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

// mayAnswer reports whether there is room for one more large answer. A connection that holds no
// slot always gets one, so that it makes progress even if other clients fill the shared limit. The
// caller holds mu.
func (c *conn) mayAnswer() bool {
	ts := &c.slots
	return ts.taken == 0 || ts.taken < maxAnswerSlots && ts.making < maxMaking && !c.answersFull()
}

// answersFull reports whether so many bytes wait for clients that no further answer may be built.
// The caller holds mu.
func (c *conn) answersFull() bool {
	return c.send.queued+c.out.size() > fullAnswers || c.srv.queued.Load() > c.srv.o.MaxQueuedBytes
}

// answerMade notes that the answer of a call is built, or that there will be none. The caller holds
// mu.
func (c *conn) answerMade(call *Call) {
	if call.slot == nil || !call.slot.making {
		return
	}
	call.slot.making = false
	c.slots.making--
	c.grantSlots()
}

// releaseSlot releases the slot of an ended call. The caller holds mu.
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
