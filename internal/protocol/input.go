package protocol

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// readBufferSize is the most that one read returns, unless a larger frame is incomplete.
const readBufferSize = 64 << 10

// smallRest is the largest partial frame that is copied to a slice of its own while the connection
// waits, so that it does not hold a large buffer.
const smallRest = 4 << 10

type readBuffer struct{ b []byte }

var readBuffers = sync.Pool{New: func() any { return &readBuffer{make([]byte, readBufferSize)} }}

// ErrKicked means that another goroutine wants the reader's attention.
var ErrKicked = errors.New("protocol: kicked")

// Input reads from the socket. Where the system can wait without a buffer, it holds none while it
// waits.
//
// Invariant: data that was read but not consumed is buf.b[r:w], or rest while buf is nil.
type Input struct {
	nc    net.Conn
	first [1]byte
	raw   syscall.RawConn // nil: the connection only has Read
	try   func(fd uintptr) bool
	n     int   // result of try
	err   error // result of try
	buf   *readBuffer
	rest  []byte
	r, w  int

	reads   atomic.Uint64  // successful reads
	count   *atomic.Uint64 // counter of bytes; nil: not counted
	waiting atomic.Bool    // the reader is waiting for the client
	waited  bool           // the last Fill had to wait
}

// Init sets the connection to read from.
func (in *Input) Init(nc net.Conn) {
	in.nc = nc
	if sc, ok := nc.(syscall.Conn); ok && canReadRaw {
		if raw, err := sc.SyscallConn(); err == nil {
			in.raw, in.try = raw, in.tryRead
		}
	}
}

// Count makes Input add the bytes that it reads to a counter. It is called before the first Fill.
func (in *Input) Count(bytes *atomic.Uint64) { in.count = bytes }

// Unread puts b, which was read from the connection before Init, in front of the next data. It is
// called before the first Fill.
func (in *Input) Unread(b []byte) { in.rest = slices.Clone(b) }

// Reads returns the number of reads that returned data. Any goroutine may call it.
func (in *Input) Reads() uint64 { return in.reads.Load() }

// Waiting reports whether the reader is waiting for the client. Any goroutine may call it.
func (in *Input) Waiting() bool { return in.waiting.Load() }

// Waited reports whether the last Fill had to wait, which means that the client does not send
// faster than it is served. It is false where the system cannot report that.
func (in *Input) Waited() bool { return in.waited }

// Pending returns the data that was read but not consumed.
func (in *Input) Pending() []byte {
	if in.buf == nil {
		return in.rest
	}
	return in.buf.b[in.r:in.w]
}

// Consume drops the first n pending bytes. Slices of them stay valid until the next Fill.
func (in *Input) Consume(n int) {
	if in.buf == nil {
		in.rest = in.rest[n:]
		return
	}
	in.r += n
}

// Fill reads more data behind the pending bytes; the caller needs want bytes in total. It returns
// ErrKicked after Kick, io.EOF at the end, and network errors.
func (in *Input) Fill(want int) error {
	in.prepare(want)
	in.waiting.Store(true)
	n, err := in.read()
	in.waiting.Store(false)
	if in.kicked(err) {
		return ErrKicked
	}
	if n == 0 && err == nil {
		err = io.EOF
	}
	if n > 0 {
		in.reads.Add(1)
		if in.count != nil {
			in.count.Add(uint64(n))
		}
		in.w += n
		return nil
	}
	return err
}

// AwaitEnd waits until the client has closed the connection, and reads nothing: data may be
// unread. It returns ErrKicked after Kick, io.EOF at the end, errors.ErrUnsupported at once if the
// system cannot tell, and network errors.
func (in *Input) AwaitEnd() error {
	switch err := awaitGone(in.nc); {
	case err == nil:
		return io.EOF
	case in.kicked(err):
		return ErrKicked
	default:
		return err
	}
}

// kicked reports whether err, of a read, is due to Kick. It makes the next read wait again.
func (in *Input) kicked(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	// A kick sets its flag first, so that none is lost here.
	in.nc.SetReadDeadline(time.Time{}) //nolint:errcheck // the next read reports a closed socket
	return true
}

func (in *Input) read() (int, error) {
	if in.raw == nil {
		return in.readPlainly()
	}
	in.waited = false
	if err := in.raw.Read(in.try); err != nil {
		return 0, err
	}
	return in.n, in.err
}

// readPlainly reads from a connection that cannot report whether it is readable, such as one with
// TLS. Between requests it waits for a single byte, without a buffer; when that arrives, the rest
// is decrypted and the next read returns it.
func (in *Input) readPlainly() (int, error) {
	if in.w > in.r || len(in.buf.b) > readBufferSize {
		return in.nc.Read(in.buf.b[in.w:])
	}
	in.setAside()
	n, err := in.nc.Read(in.first[:])
	in.prepare(0)
	return copy(in.buf.b, in.first[:n]), err
}

// tryRead reads what has arrived. If nothing has, it returns its buffer to the pool and returns
// false; it is called again once the socket is readable.
func (in *Input) tryRead(fd uintptr) bool {
	in.prepare(0)
	n, err := rawRead(fd, in.buf.b[in.w:])
	if errors.Is(err, syscall.EAGAIN) {
		in.waited = true
		in.setAside()
		return false
	}
	in.n, in.err = max(n, 0), err
	return true
}

// prepare makes room for want bytes in total, and for at least one more than is pending. The buffer
// grows in proportion to what is pending, so that a request of many small parts is not copied for
// each of them.
func (in *Input) prepare(want int) {
	if in.buf == nil {
		in.buf = readBuffers.Get().(*readBuffer)
		if len(in.rest) >= len(in.buf.b) {
			in.buf = &readBuffer{make([]byte, 2*len(in.rest))}
		}
		in.r, in.w = 0, copy(in.buf.b, in.rest)
		in.rest = nil
	}
	if in.r > 0 {
		in.w = copy(in.buf.b, in.buf.b[in.r:in.w])
		in.r = 0
	}
	if want = max(want, in.w+1); want > len(in.buf.b) {
		bigger := &readBuffer{make([]byte, max(want, readBufferSize, 2*in.w))}
		copy(bigger.b, in.buf.b[:in.w])
		in.giveBack()
		in.buf = bigger
	}
}

// setAside returns the buffer to the pool if little or nothing is pending.
func (in *Input) setAside() {
	if in.w-in.r > smallRest {
		return
	}
	if in.w > in.r {
		in.rest = slices.Clone(in.buf.b[in.r:in.w])
	}
	in.giveBack()
	in.buf = nil
}

// giveBack returns the buffer to the pool. Larger buffers, which few connections need, are left to
// the garbage collector.
func (in *Input) giveBack() {
	if len(in.buf.b) == readBufferSize {
		readBuffers.Put(in.buf)
	}
}

// Release returns the buffer to the pool and drops what is pending.
func (in *Input) Release() {
	if in.buf != nil {
		in.giveBack()
	}
	in.buf, in.rest = nil, nil
	in.r, in.w = 0, 0
}

// Kick makes the waiting Fill, or the next one, return ErrKicked. Any goroutine may call it.
func (in *Input) Kick() {
	in.nc.SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // a closed socket needs no kick
}
