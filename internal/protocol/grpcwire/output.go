package grpcwire

import (
	"errors"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/protocol"
)

const (
	firstOut  = 4 << 10  // room that a fresh out buffer starts with
	pooledOut = 1 << 20  // the largest out buffer kept for reuse
	chunkOut  = 64 << 10 // given to the system at a time
	littleOut = 1 << 10  // less than it is worth to wait for company once
	fullOut   = 1 << 20  // waiting to be written, above which SendMsg waits
	stopOut   = 4 << 20  // the same, above which the reader stops reading
)

type outBuffer struct{ b []byte }

var outBuffers = sync.Pool{New: func() any { return &outBuffer{make([]byte, 0, firstOut)} }}

// output gathers frames for the client. conn.mu guards it, except wake, room, done and, while
// writing is set, what belongs to the goroutine that set it.
type output struct {
	nc       net.Conn
	deadline time.Time // of writes; the writer's
	sender   protocol.Sender
	wake     chan struct{} // 1 slot: for the writer
	room     chan struct{} // 1 slot: for the reader: something was written
	done     chan struct{} // closed when the writer has left

	buf     *outBuffer // whole frames, nil when there are none
	idle    int        // of the bytes in buf, those at its front that wait for company (acks.go)
	partly  *outBuffer // frames of which a part is written; they come before buf
	rest    []byte     // of partly
	taken   int        // bytes being written
	answers bool       // there are data or headers in buf
	writing bool       // a goroutine writes; it looks again before it leaves
	rounds  int        // how many gather, the reader or a handler: each of them writes at its end
	ended   bool       // the writer leaves when all is written
	shut    bool       // further frames are dropped
	failed  bool       // nothing can be written any more: frames are dropped
}

func (o *output) init(nc net.Conn) {
	o.nc = nc
	o.sender.Init(nc)
	o.wake, o.room, o.done = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
}

// begin returns the buffer to append to. end must follow.
func (o *output) begin() []byte {
	if o.buf == nil {
		o.buf = outBuffers.Get().(*outBuffer)
	}
	return o.buf.b
}

// end takes what was appended.
func (o *output) end(b []byte) {
	if o.shut {
		return
	}
	o.buf.b = b
	if o.failed {
		o.buf.b = b[:0]
	}
	if o.rounds == 0 {
		o.signal()
	}
}

// size is how many bytes wait to be written or are being written.
func (o *output) size() int {
	n := len(o.rest) + o.taken
	if o.buf != nil {
		n += len(o.buf.b)
	}
	return n
}

// signal wakes the writer.
func (o *output) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take hands out what comes next on the wire.
func (o *output) take() (*outBuffer, []byte) {
	buf, b := o.partly, o.rest
	if buf == nil {
		buf, o.buf, o.idle, o.answers = o.buf, nil, 0, false
		b = buf.b
	}
	o.partly, o.rest = nil, nil
	o.taken = len(b)
	if o.shut {
		protocol.Farewell(o.nc)
	}
	return buf, b
}

// put takes back a buffer of which all but rest is written.
func (o *output) put(buf *outBuffer, rest []byte) {
	o.taken = 0
	if len(rest) > 0 && !o.failed {
		o.partly, o.rest = buf, rest
		return
	}
	if cap(buf.b) <= pooledOut {
		buf.b = buf.b[:0]
		outBuffers.Put(buf)
	}
}

// failWrites refuses further frames after a failed write, and closes the socket.
// mu is held, and let go of for that.
func (c *conn) failWrites() {
	o := &c.out
	o.failed = true
	o.buf, o.partly, o.rest, o.idle = nil, nil, nil, 0
	c.mu.Unlock()
	c.Kill()
	c.mu.Lock()
}

// waits reports whether there is something to write.
func (o *output) waits() bool { return o.partly != nil || o.buf != nil && len(o.buf.b) > o.idle }

// gather begins a round: until its end appends do not wake the writer. mu is held.
func (o *output) gather() { o.rounds++ }

// leaveRound ends a round: what has gathered leaves, also what others gathered whose
// rounds go on. mu is held, and let go of meanwhile.
func (c *conn) leaveRound() {
	c.out.rounds--
	c.writeAtOnce()
}

// writeAtOnce gives the socket what it takes without waiting, and leaves the rest
// to the writer. mu is held, and let go of meanwhile.
func (c *conn) writeAtOnce() {
	o := &c.out
	switch {
	case !o.waits() || o.failed:
		return
	case o.writing || o.partly != nil || !o.sender.Can():
		o.signal()
		return
	}
	buf, b := o.take()
	o.writing = true
	c.mu.Unlock()
	n, err := o.sender.Try(b)
	c.srv.o.BytesOut.Add(uint64(n))
	c.client.Out.Add(uint64(n))
	c.mu.Lock()
	o.writing = false
	o.put(buf, b[n:])
	if err != nil {
		c.failWrites()
	}
	if o.waits() || o.ended {
		o.signal() // the writer found another goroutine writing
	}
	c.tellRoom()
}

// writeLoop is the writer goroutine.
func (c *conn) writeLoop() {
	o := &c.out
	defer close(o.done)
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for o.waits() && !o.writing && !o.failed {
			buf, b := o.take()
			o.writing = true
			ok := c.writeAll(b)
			o.writing = false
			o.put(buf, nil)
			if !ok {
				c.failWrites()
			}
			c.tellRoom()
		}
		if o.ended && (o.failed || !o.waits() && !o.writing) {
			return
		}
		c.mu.Unlock()
		<-o.wake
		c.mu.Lock()
		if o.size() < littleOut {
			c.mu.Unlock()
			runtime.Gosched() // other handlers may be about to answer: their answers go along
			c.mu.Lock()
		}
	}
}

// writeAll writes b in chunks; it gives up when for the timeout, or for half of it,
// nothing could be written at all. mu is held, and let go of for each chunk.
func (c *conn) writeAll(b []byte) bool {
	o := &c.out
	for len(b) > 0 {
		chunk := b[:min(len(b), chunkOut)]
		c.mu.Unlock()
		o.delay(c.srv.o.WriteTimeout)
		n, err := c.nc.Write(chunk)
		c.srv.o.BytesOut.Add(uint64(n))
		c.client.Out.Add(uint64(n))
		c.mu.Lock()
		b = b[n:]
		o.taken -= n
		if err != nil && (n == 0 || !errors.Is(err, os.ErrDeadlineExceeded)) {
			return false
		}
		c.tellRoom()
	}
	return true
}

// delay moves the deadline of writes. It belongs to the writer.
func (o *output) delay(timeout time.Duration) {
	now := time.Now()
	if o.deadline.Sub(now) > timeout/2 {
		return
	}
	o.deadline = now.Add(timeout)
	o.nc.SetWriteDeadline(o.deadline) //nolint:errcheck // the write tells
}

// tellRoom wakes senders that wait for room after something was written, or sent from a queue. mu
// is held.
func (c *conn) tellRoom() {
	select {
	case c.out.room <- struct{}{}:
	default:
	}
	c.grantSlots()
	if len(c.send.crowd) == 0 {
		return
	}
	crowd := c.send.crowd[:0]
	for _, call := range c.send.crowd {
		if !call.tellRoom() {
			crowd = append(crowd, call)
		}
	}
	clear(c.send.crowd[len(crowd):])
	c.send.crowd = crowd
}

// awaitRoom holds the reader back while the client does not read.
func (c *conn) awaitRoom() {
	for {
		c.mu.Lock()
		full := c.out.size() > stopOut && !c.out.failed
		c.mu.Unlock()
		if !full {
			return
		}
		select {
		case <-c.out.room:
		case <-c.Over():
			return
		}
	}
}
