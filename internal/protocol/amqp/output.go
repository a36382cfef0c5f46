package amqp

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

const (
	// firstOut is the initial size of an out buffer.
	firstOut = 4 << 10
	// pooledOut is the largest out buffer kept for reuse.
	pooledOut = 2 << 20
	// writeChunk is how much is written at a time. After each chunk the window of deliveries opens
	// further.
	writeChunk = 256 << 10
	// tlsRecord is how much is written to TLS at a time. A TLS write that is interrupted by its
	// deadline cannot be continued, so each must complete.
	tlsRecord = 16 << 10
	// fullOut is how much may wait to be written before the reader stops reading from the client.
	// It is well above the window of deliveries: deliveries alone must not block a client that
	// publishes without reading.
	fullOut = 4 << 20
	// sendAtOnce is the most that the goroutine that produced it writes itself.
	sendAtOnce = 16 << 10
)

type outBuffer struct{ b []byte }

var outBuffers = sync.Pool{New: func() any { return &outBuffer{make([]byte, 0, firstOut)} }}

// output collects frames for the client. Any goroutine appends. The writer goroutine writes or, for
// a small amount, the goroutine that has just appended (Send).
type output struct {
	nc    net.Conn
	sent  *atomic.Uint64 // bytes written
	piece int            // bytes per write
	wake  chan struct{}  // 1 slot: there is something to write, or confirms to send
	room  chan struct{}  // 1 slot: something was written
	done  chan struct{}  // closed when the writer has ended

	size    atomic.Int64 // bytes that wait or are being written
	timeout atomic.Int64 // nanoseconds that a write may take without progress, 0 = any
	telling atomic.Bool  // the reader will send confirms soon, so they need not wake the writer

	writing sync.Mutex      // held by the goroutine that writes; taken before mu
	sender  protocol.Sender // guarded by writing
	left    taken           // guarded by writing: what Send could not write

	mu       sync.Mutex
	buf      *outBuffer    // guarded by mu: whole frames, nil when there are none
	window   *shard.Window // guarded by mu: nil before the session is open
	windowed int           // guarded by mu: bytes of buf counted in window
	ended    bool          // guarded by mu: the writer ends after buf, later frames are dropped
	farewell bool          // guarded by mu: buf is a protocol.Farewell
	props    []byte        // guarded by mu: of withOffset
}

func (o *output) init(nc net.Conn) {
	o.nc, o.piece = nc, writeChunk
	o.sender.Init(nc)
	if _, secure := protocol.StateOf(nc); secure {
		o.piece = tlsRecord
	}
	o.wake, o.room, o.done = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
}

// add appends frames. The caller calls signal when they should be written.
func (o *output) add(frames func(dst []byte) []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.addLocked(frames)
}

// addLocked is add for a caller that holds mu.
func (o *output) addLocked(frames func(dst []byte) []byte) {
	if o.ended {
		return
	}
	if o.buf == nil {
		o.buf = outBuffers.Get().(*outBuffer)
	}
	before := len(o.buf.b)
	o.buf.b = frames(o.buf.b)
	o.size.Add(int64(len(o.buf.b) - before))
}

// signal wakes the writer.
func (o *output) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// full reports whether the reader must stop reading.
func (o *output) full() bool { return o.size.Load() > fullOut }

// end makes the writer stop once everything is written.
func (o *output) end() {
	o.mu.Lock()
	o.ended = true
	o.shut()
	o.mu.Unlock()
	o.signal()
}

// endWith is end with one method of channel 0 in place of what the writer has not taken yet. It
// returns false if the connection is not open, or has ended.
func (o *output) endWith(m amqpwire.Method) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.window == nil || o.ended {
		return false
	}
	if o.buf != nil {
		o.size.Add(-int64(len(o.buf.b)))
		o.buf, o.windowed = nil, 0
	}
	o.addLocked(func(dst []byte) []byte { return amqpwire.AppendMethodFrame(dst, 0, m) })
	o.ended, o.farewell = true, true
	o.shut()
	o.signal()
	return true
}

// taken is a part of the output that is being written.
type taken struct {
	buf      *outBuffer // nil: nothing
	from     int        // everything before this was written
	window   *shard.Window
	windowed int  // bytes of buf counted in window
	last     bool // nothing will follow
}

// take takes everything that waits to be written.
func (o *output) take() taken {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := taken{o.buf, 0, o.window, o.windowed, o.ended}
	o.buf, o.windowed = nil, 0
	if o.farewell {
		protocol.Farewell(o.nc)
	}
	return t
}

// free releases the memory.
func (t *taken) free() {
	if t.buf != nil && cap(t.buf.b) <= pooledOut {
		t.buf.b = t.buf.b[:0]
		outBuffers.Put(t.buf)
	}
	t.buf = nil
}

// writeLoop is the writer goroutine.
func (c *conn) writeLoop() {
	o := &c.out
	defer close(o.done)
	for range o.wake {
		o.writing.Lock()
		ok := o.write(&o.left)
		c.tellConfirms()
		t := o.take()
		ok = ok && o.write(&t)
		o.writing.Unlock()
		if !ok {
			o.drop()
			c.Kill()
		}
		if !ok || t.last {
			return
		}
	}
}

// Send implements shard.Output. What the socket does not accept at once is left to the writer, as
// is the end of the connection.
func (c *conn) Send() {
	o := &c.out
	if !o.sender.Can() || o.size.Load() > sendAtOnce || !o.writing.TryLock() {
		o.signal()
		return
	}
	defer o.writing.Unlock()
	if o.left.buf == nil {
		c.tellConfirms()
		o.left = o.take()
	}
	if o.left.buf != nil {
		o.trySend(&o.left)
	}
	if o.left.buf != nil || o.left.last {
		o.signal()
	}
}

// trySend writes t if the socket accepts all of it at once. After an error, the writer will get the
// same error.
func (o *output) trySend(t *taken) {
	n, err := o.sender.Try(t.buf.b[t.from:])
	t.from += n
	o.sent.Add(uint64(n))
	o.size.Add(-int64(n))
	if err != nil || t.from < len(t.buf.b) {
		return // the writer continues with it
	}
	if t.windowed > 0 {
		t.window.Done(t.windowed)
	}
	t.free()
}

// write writes all of t, frees it, and opens the window step by step. It returns false if the
// client is gone, or does not read.
func (o *output) write(t *taken) bool {
	if t.buf == nil {
		return true
	}
	defer t.free()
	b, windowed, ok := t.buf.b[t.from:], t.windowed, true
	for len(b) > 0 && ok {
		chunk := b[:min(len(b), writeChunk)]
		b = b[len(chunk):]
		ok = o.writeChunk(chunk)
		o.size.Add(-int64(len(chunk)))
		select {
		case o.room <- struct{}{}:
		default:
		}
		if n := min(windowed, len(chunk)); n > 0 && ok {
			t.window.Done(n)
			windowed -= n
		}
	}
	o.size.Add(-int64(len(b)))
	if windowed > 0 && ok {
		t.window.Done(windowed)
	}
	return ok
}

// writeChunk writes b. It fails if nothing could be written within the timeout.
func (o *output) writeChunk(b []byte) bool {
	for len(b) > 0 {
		if t := o.timeout.Load(); t > 0 {
			o.nc.SetWriteDeadline(time.Now().Add(time.Duration(t))) //nolint:errcheck // the write fails as well
		}
		n, err := o.nc.Write(b[:min(len(b), o.piece)])
		b = b[n:]
		o.sent.Add(uint64(n))
		if err != nil && (n == 0 || !errors.Is(err, os.ErrDeadlineExceeded)) {
			return false
		}
	}
	return true
}

// shutWindow is more than any window, so that the engine delivers nothing more to an ending
// connection: messages without acknowledgement would be lost.
const shutWindow = 1 << 40

// drop discards further frames after a failed write, so that nothing accumulates.
func (o *output) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.buf, o.windowed = nil, 0
	o.size.Store(0)
	o.shut()
}

// shut closes the engine's window for good; the caller holds mu.
func (o *output) shut() {
	if o.window != nil {
		o.window.Add(shutWindow)
	}
}

// awaitRoom makes the reader wait while the client does not read its answers. Collected operations
// go to the engine first.
func (c *conn) awaitRoom() {
	if !c.out.full() {
		return
	}
	c.flush()
	for c.out.full() {
		select {
		case <-c.out.room:
		case <-c.acks.wake:
			c.endOverdue()
		case <-c.attention:
			return
		case <-c.Over():
			return
		}
	}
}
