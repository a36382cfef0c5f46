package grpcwire

import (
	"context"

	"google.golang.org/grpc"
)

// Answers are bounded by turns: a handler whose answer may be large asks for one before it begins,
// and has it until the client has taken the answer. A client that takes nothing has mostTurns
// answers made for it, and further calls wait; those with small answers go on. Without turns the
// answers of all open calls would be made at once, and wait.

const (
	mostTurns = 64 // of one connection
	// fullAnswers is how many bytes of answers may wait for a client before no further turn is
	// given.
	fullAnswers = 16 << 20
)

// turns are those of one connection.
type turns struct {
	taken   int
	waiting []*Call
}

// turn is one that a call has or waits for.
type turn struct {
	mine chan struct{} // closed when the call has it
	has  bool
}

// AwaitTurn waits until the call of ctx may make an answer that may be large. It is for handlers
// that wait for nobody else. On another transport it does not wait. Errors: that of ctx.
func AwaitTurn(ctx context.Context) error {
	call, ok := grpc.ServerTransportStreamFromContext(ctx).(*Call)
	if !ok {
		return nil
	}
	mine := call.c.joinTurns(call)
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

// joinTurns has the call wait for its turn; the result is closed when it has it.
func (c *conn) joinTurns(call *Call) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call.turn == nil {
		call.turn = &turn{mine: make(chan struct{})}
		c.turns.waiting = append(c.turns.waiting, call)
		c.nextTurns()
	}
	return call.turn.mine
}

// nextTurns gives turns to those that wait. mu is held.
func (c *conn) nextTurns() {
	ts := &c.turns
	for len(ts.waiting) > 0 && c.mayAnswer() {
		call := ts.waiting[0]
		ts.waiting[0] = nil
		ts.waiting = ts.waiting[1:]
		if call.ended {
			continue
		}
		ts.taken++
		call.turn.has = true
		close(call.turn.mine)
	}
}

// mayAnswer reports whether there is room for one more large answer. A connection for which none is
// made may always make one: so its turns go on when those of others are at fault. mu is held.
func (c *conn) mayAnswer() bool {
	return c.turns.taken == 0 || c.turns.taken < mostTurns && !c.answersFull()
}

// answersFull reports whether the clients have not taken so much that no more is to be made. mu is
// held.
func (c *conn) answersFull() bool {
	return c.send.queued+c.out.size() > fullAnswers || c.srv.queued.Load() > c.srv.o.MaxQueuedBytes
}

// giveTurnBack ends the turn of a call that has ended. mu is held.
func (c *conn) giveTurnBack(call *Call) {
	if call.turn == nil || !call.turn.has {
		return
	}
	call.turn.has = false
	c.turns.taken--
	c.nextTurns()
}
