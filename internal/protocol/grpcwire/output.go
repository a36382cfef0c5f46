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
	firstOut  = 4 << 10  // initial capacity of an output buffer
	pooledOut = 1 << 20  // largest output buffer kept for reuse
	chunkOut  = 64 << 10 // most bytes per write
	littleOut = 1 << 10  // below this size the writer yields once before it writes
	fullOut   = 1 << 20  // unwritten bytes above which SendMsg blocks
	stopOut   = 4 << 20  // unwritten bytes above which the reader stops reading
)

type outBuffer struct{ b []byte }

var outBuffers = sync.Pool{New: func() any { return &outBuffer{make([]byte, 0, firstOut)} }}

// output buffers the frames for the client. conn.mu guards it, except for wake, room, done and,
// while writing is set, the fields of the goroutine that set it.
type output struct {
	nc       net.Conn
	deadline time.Time // of writes; used by the writer
	sender   protocol.Sender
	wake     chan struct{} // capacity 1: wakes the writer
	room     chan struct{} // capacity 1: tells the reader that something was written
	done     chan struct{} // closed when the writer has returned

	buf     *outBuffer // complete frames; nil if there are none
	idle    int        // leading bytes of buf that wait for other output (acks.go)
	partly  *outBuffer // partly written frames, which come before buf
	rest    []byte     // unwritten part of partly
	taken   int        // bytes being written
	answers bool       // buf contains data or headers
	writing bool       // a goroutine is writing; it checks for more before it stops
	rounds  int        // open rounds, of the reader or of handlers; each one writes at its end
	ended   bool       // the writer returns when everything is written
	shut    bool       // further frames are dropped
	failed  bool       // a write failed: further frames are dropped
}

func (o *output) init(nc net.Conn) {
	o.nc = nc
	o.sender.Init(nc)
	o.wake, o.room, o.done = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
}

// begin returns the buffer to append to. The caller must call end afterwards.
func (o *output) begin() []byte {
	if o.buf == nil {
		o.buf = outBuffers.Get().(*outBuffer)
	}
	return o.buf.b
}

// end stores the buffer after frames were appended.
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

// size returns how many bytes wait to be written or are being written.
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

// take returns the bytes to write next.
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

// put returns a buffer after a write. rest is its unwritten part.
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

// failWrites drops all output after a failed write and closes the socket. The caller holds mu,
// which is released while the socket is closed.
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

// gather begins a round: until its end, appended frames do not wake the writer. The caller holds
// mu.
func (o *output) gather() { o.rounds++ }

// leaveRound ends a round and writes everything that is buffered, including the output of rounds
// that are still open. The caller holds mu, which is released during the write.
func (c *conn) leaveRound() {
	c.out.rounds--
	c.writeAtOnce()
}

// writeAtOnce writes what the socket accepts without blocking, and leaves the rest to the writer.
// The caller holds mu, which is released during the write.
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
		o.signal() // the writer may have stopped because this goroutine was writing
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
			runtime.Gosched() // lets other handlers answer: their answers are written along
			c.mu.Lock()
		}
	}
}

// writeAll writes b in chunks and reports whether it succeeded. It fails if no
// byte can be written for a time between half of the timeout and the timeout. The caller holds mu,
// which is released during each write.
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

// delay moves the write deadline. Only the writer calls it.
func (o *output) delay(timeout time.Duration) {
	now := time.Now()
	if o.deadline.Sub(now) > timeout/2 {
		return
	}
	o.deadline = now.Add(timeout)
	o.nc.SetWriteDeadline(o.deadline) //nolint:errcheck // the write reports the error
}

// tellRoom wakes senders that wait for room, after output was written or sent from a queue. The
// caller holds mu.
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

// awaitRoom blocks the reader while the client does not read.
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
