package transport

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/replica/timely"
)

const (
	linkMessages = 4096     // that may be queued on a link
	linkBytes    = 64 << 20 // of their entries together; a single message may exceed it
	writeBuffer  = 128 << 10
	minBackoff   = 50 * time.Millisecond
	maxBackoff   = time.Second
)

// link sends messages to a peer over a connection that it redials when lost.
type link struct {
	t       *Transport
	to      *peer
	purpose purpose

	mu    sync.Mutex
	queue []*pb.Message           // guarded by mu
	bytes int                     // guarded by mu: of the entries in queue
	pongs []pong                  // guarded by mu: to be sent
	end   context.CancelCauseFunc // guarded by mu: closes the connection; nil while there is none

	wake  chan struct{}   // 1 slot: the link has work
	ctx   context.Context // until close
	close context.CancelFunc

	buf []byte // of the goroutine that writes
}

// pong answers a ping. sent is the peer's time in the ping.
type pong struct{ sent uint64 }

func newLink(t *Transport, to *peer, purpose purpose) *link {
	l := &link{t: t, to: to, purpose: purpose, wake: make(chan struct{}, 1)}
	l.ctx, l.close = context.WithCancel(t.ctx)
	return l
}

// send queues a message. It returns false if the queue is full, or if the message must not be late
// and would have to wait for a connection.
func (l *link) send(m *pb.Message) bool {
	size := 0
	for _, e := range m.Entries {
		size += len(e.Data)
	}
	l.mu.Lock()
	full := len(l.queue) >= linkMessages || len(l.queue) > 0 && l.bytes+size > linkBytes || l.end == nil && timely.Is(m)
	if !full {
		l.queue = append(l.queue, m)
		l.bytes += size
	}
	l.mu.Unlock()
	if !full {
		l.signal()
	}
	return !full
}

func (l *link) answerPing(sent uint64) {
	l.mu.Lock()
	if len(l.pongs) < linkMessages {
		l.pongs = append(l.pongs, pong{sent})
	}
	l.mu.Unlock()
	l.signal()
}

func (l *link) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// take returns the queue's content and leaves spare in its place.
func (l *link) take(spare []*pb.Message) (messages []*pb.Message, pongs []pong) {
	l.mu.Lock()
	defer l.mu.Unlock()
	messages, pongs = l.queue, l.pongs
	clear(spare)
	l.queue, l.bytes, l.pongs = spare[:0], 0, nil
	return messages, pongs
}

// run keeps the link connected until it is closed.
func (l *link) run() {
	backoff := minBackoff
	for {
		nc, err := l.dial()
		if err == nil {
			backoff = minBackoff
			err = l.serve(nc)
		}
		l.lose()
		if l.ctx.Err() != nil {
			return
		}
		text := "cluster: no connection to a node"
		if errors.Is(err, ErrRefused) {
			text = "cluster: a node refuses the connection"
		}
		l.t.complain(l.to.id, text, "node", l.to.id, "address", *l.to.address.Load(), "err", err)
		select {
		case <-l.ctx.Done():
			return
		case <-time.After(backoff/2 + rand.N(backoff)/2):
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

func (l *link) setEnd(end context.CancelCauseFunc) {
	l.mu.Lock()
	l.end = end
	l.mu.Unlock()
}

// cut closes the connection because of err; the link dials again.
func (l *link) cut(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end != nil {
		l.end(err)
	}
}

func (l *link) isConnected() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end != nil
}

// lose drops the queued messages.
func (l *link) lose() {
	messages, _ := l.take(nil)
	if len(messages) > 0 {
		l.to.figures.dropped.Add(uint64(len(messages)))
		l.t.o.Unreachable(l.to.id)
	}
}

func (l *link) dial() (net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.ctx, dialPatience)
	defer cancel()
	nc, err := l.t.dial(ctx, l.to, &hello{purpose: l.purpose})
	if err == nil && l.purpose == controlLink {
		l.to.figures.dials.Add(1)
	}
	return nc, err
}

// serve sends until the connection fails or is cut, or the link is closed, and closes the
// connection.
func (l *link) serve(nc net.Conn) error {
	ctx, end := context.WithCancelCause(l.ctx)
	defer end(nil)
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { nc.Close() })()
	l.setEnd(end)
	defer l.setEnd(nil)
	err := l.transmit(ctx, nc)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// transmit sends until the connection fails or ctx ends. After its answer a peer writes nothing, so
// a read returns only when the connection ends.
func (l *link) transmit(ctx context.Context, nc net.Conn) error {
	broken := make(chan error, 1)
	go func() {
		_, err := nc.Read(make([]byte, 1))
		broken <- err
	}()
	w := bufio.NewWriterSize(nc, writeBuffer)
	ping := time.NewTicker(l.t.tick)
	defer ping.Stop()
	if err := l.ping(nc, w); err != nil {
		return err
	}
	var messages []*pb.Message
	for {
		select {
		case <-ping.C: // even while there is always a message to send
			if err := l.ping(nc, w); err != nil {
				return err
			}
		default:
		}
		var pongs []pong
		messages, pongs = l.take(messages)
		if len(messages)+len(pongs) == 0 {
			select {
			case <-ctx.Done():
				return nil
			case err := <-broken:
				return err
			case <-l.wake:
			case <-ping.C:
				if err := l.ping(nc, w); err != nil {
					return err
				}
			}
			continue
		}
		for _, p := range pongs {
			if err := l.writePong(nc, w, p); err != nil {
				return err
			}
		}
		for _, m := range messages {
			if err := l.write(nc, w, m); err != nil {
				return err
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		l.to.figures.sent.Add(uint64(len(messages)))
	}
}

// write sends one message.
func (l *link) write(nc net.Conn, w *bufio.Writer, m *pb.Message) (err error) {
	l.buf = beginFrame(l.buf[:0])
	if timely.Is(m) {
		ok := false
		if l.buf, ok, err = l.appendTimely(l.buf, m); !ok {
			return err
		}
	} else {
		l.buf, err = appendMessage(l.buf, m)
	}
	if err != nil {
		return err
	}
	if len(l.buf) > frameHeader+maxFrame {
		l.t.o.Log.Error("cluster: a message is too large to be sent", "node", l.to.id, "type", m.GetType(), "bytes", len(l.buf))
		return nil
	}
	return l.finish(nc, w)
}

// finish completes the frame in l.buf and writes it. If the peer reads too slowly, the write fails.
func (l *link) finish(nc net.Conn, w *bufio.Writer) error {
	endFrame(l.buf, 0)
	patience := writePatience + time.Duration(len(l.buf)>>20)*time.Second
	nc.SetWriteDeadline(time.Now().Add(patience)) //nolint:errcheck // the write fails, too
	_, err := w.Write(l.buf)
	if cap(l.buf) > keptBuffer {
		l.buf = nil
	}
	return err
}

// ping asks for the peer's time, only on the control link.
func (l *link) ping(nc net.Conn, w *bufio.Writer) error {
	if l.purpose != controlLink {
		return nil
	}
	l.buf = append(beginFrame(l.buf[:0]), recordPing)
	l.buf = binary.AppendUvarint(l.buf, uint64(l.t.elapsed()))
	if err := l.finish(nc, w); err != nil {
		return err
	}
	return w.Flush()
}

func (l *link) writePong(nc net.Conn, w *bufio.Writer, p pong) error {
	l.buf = append(beginFrame(l.buf[:0]), recordPong)
	l.buf = codec.AppendUvarints(l.buf, p.sent, uint64(l.t.o.Now().UnixNano()))
	return l.finish(nc, w)
}
