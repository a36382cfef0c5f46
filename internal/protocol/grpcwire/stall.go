package grpcwire

import (
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// stall detects what a client has begun and does not continue. While there is something to check, a
// timer checks the connection every MessageTimeout and ends what it finds stalled twice in a row.
// So nothing needs to be recorded while messages arrive in time. conn.mu guards it.
type stall struct {
	timer   *time.Timer // nil: never needed
	set     bool
	halfway bool   // the last round ended within a frame or a header block
	frames  uint64 // frames read by then
	block   uint32 // the stream whose header block was open then; 0: none

	// The same values at the last check.
	sawHalfway bool
	sawFrames  uint64
	sawBlock   uint32
}

// errStalled ends a call whose message does not arrive.
var errStalled = status.New(codes.DeadlineExceeded, "grpc: the message did not arrive in time")

// watchStalls schedules the next check. The caller holds mu.
func (c *conn) watchStalls() {
	st, every := &c.stall, c.srv.o.MessageTimeout
	switch {
	case st.set || c.keep.stopped:
		return
	case st.timer == nil:
		st.timer = time.AfterFunc(every, c.stallsDue)
	default:
		st.timer.Reset(every)
	}
	st.set = true
}

// noteRound records where a round has ended. The caller holds mu.
func (c *conn) noteRound() {
	st := &c.stall
	st.frames, st.block = c.frames, c.headers.call
	if st.halfway = c.settled && len(c.in.Pending()) > 0 || st.block != 0; st.halfway {
		c.watchStalls()
	}
}

// stallsDue performs a check. It runs on a timer's goroutine.
func (c *conn) stallsDue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := &c.stall
	st.set = false
	if c.keep.stopped {
		return
	}
	if st.halfway && st.sawHalfway && (st.frames == st.sawFrames || st.block != 0 && st.block == st.sawBlock) {
		go c.Kill() // closing a TLS connection may take a while
		return
	}
	st.sawHalfway, st.sawFrames, st.sawBlock = st.halfway, st.frames, st.block
	again := st.halfway
	for _, call := range c.calls {
		again = c.lookAt(call) || again
	}
	if again {
		c.watchStalls()
	}
}

// lookAt ends a call that has stalled, and reports whether the call must be checked again. The
// caller holds mu.
func (c *conn) lookAt(call *Call) bool {
	switch {
	case call.last != nil: // the handler has answered, but the client does not read the answer
		if call.unsent == len(call.queue) {
			c.reset(call, http2.ErrCodeCancel)
			return false
		}
		call.unsent = len(call.queue)
		return true
	case !call.missing():
		call.stale = false
		return false
	case call.stale:
		c.end(call, errStalled)
		return false
	}
	call.stale = true
	return true
}

// missing reports whether the client has begun to send a message of a stream, or a call with one
// message, and has not finished. The caller holds mu.
func (s *Call) missing() bool {
	if s.req.method.stream != nil {
		return s.begun
	}
	return !s.handled
}
