package protocol

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Session is one client connection of a protocol.
type Session interface {
	// Serve serves the connection on its own goroutine. It returns after the connection has ended
	// and its socket is closed.
	Serve()
	// Drain asks the session to send outstanding answers, to tell the client about the end, and to
	// end. It does not wait. Any goroutine may call it, even before Serve.
	Drain()
	// Kill closes the socket at once. Any goroutine may call it, at any time.
	Kill()
}

// Abandoner is a Session that tells its client when it is abandoned. The sockets of other sessions
// are just closed.
type Abandoner interface {
	Session
	// Abandon drops all pending output and tells the client only that the session ends (Farewell).
	// It does not wait. Any goroutine may call it, even before Serve.
	Abandon()
}

// Edge accepts the connections of one protocol.
type Edge struct {
	name string
	open func(nc net.Conn, id uint64) Session
	log  *slog.Logger

	opened atomic.Uint64

	mu        sync.Mutex
	draining  bool
	abandoned bool // new connections are closed
	listeners map[net.Listener]struct{}
	sessions  map[Session]net.Conn
	running   sync.WaitGroup // one for each session
}

// lastSession numbers the sessions of all protocols of this process.
var lastSession atomic.Uint64

// NewEdge returns an edge that calls open to make a session of each connection. The id is unique
// among all sessions of this process.
func NewEdge(name string, log *slog.Logger, open func(nc net.Conn, id uint64) Session) *Edge {
	return &Edge{
		name: name, open: open, log: log,
		listeners: map[net.Listener]struct{}{}, sessions: map[Session]net.Conn{},
	}
}

// The pauses after a failed accept. The process may be out of file descriptors, and trying again at
// once would only burn CPU.
const (
	firstAcceptPause = 5 * time.Millisecond
	lastAcceptPause  = time.Second
)

// Serve accepts connections on ln until Drain is called or ln is closed, and then returns nil. It
// may serve several listeners at a time.
func (e *Edge) Serve(ln net.Listener) error {
	e.mu.Lock()
	if e.draining {
		e.mu.Unlock()
		return ln.Close()
	}
	e.listeners[ln] = struct{}{}
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		delete(e.listeners, ln)
		e.mu.Unlock()
	}()
	return Accept(e.name, ln, e.log, e.start)
}

// Accept passes the connections of a listener to fn until the listener is closed, and then returns
// nil. It retries if resources run out. name is for the log.
func Accept(name string, ln net.Listener, log *slog.Logger, fn func(net.Conn)) error {
	for {
		nc, err := next(name, ln, log)
		switch {
		case err == nil:
			fn(nc)
		case errors.Is(err, net.ErrClosed):
			return nil
		default:
			return fmt.Errorf("protocol: %s: accept: %w", name, err)
		}
	}
}

// next returns the next connection of a listener. It retries if resources run out.
func next(name string, ln net.Listener, log *slog.Logger) (net.Conn, error) {
	for pause := firstAcceptPause; ; pause = min(2*pause, lastAcceptPause) {
		nc, err := ln.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) || !isTemporary(err) {
			return nc, err
		}
		log.Warn("accept failed, trying again", "protocol", name, "err", err, "pause", pause)
		time.Sleep(pause)
	}
}

// isTemporary reports whether accepting may work again later: resources ran out, or the client left
// before it was accepted.
func isTemporary(err error) bool {
	var ne interface{ Temporary() bool }
	return errors.As(err, &ne) && ne.Temporary()
}

func (e *Edge) start(nc net.Conn) {
	if e.isAbandoned() {
		nc.Close()
		return
	}
	s := e.open(nc, lastSession.Add(1))
	e.mu.Lock()
	if e.draining || e.abandoned {
		e.mu.Unlock()
		s.Kill()
		return
	}
	e.sessions[s] = nc
	e.running.Add(1)
	e.mu.Unlock()
	e.opened.Add(1)
	go func() {
		defer e.running.Done()
		s.Serve()
		e.mu.Lock()
		delete(e.sessions, s)
		e.mu.Unlock()
	}()
}

// Connections returns the number of open connections, including those that are logging in.
func (e *Edge) Connections() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.sessions)
}

// ConnectionsOpened returns the number of connections accepted so far.
func (e *Edge) ConnectionsOpened() uint64 { return e.opened.Load() }

// Drain closes the listeners, drains every session and waits until all have ended. If ctx ends
// first, it kills the rest and returns ctx's error. When it returns, no goroutine of the edge is
// running. It may be called again, and without an earlier Serve.
func (e *Edge) Drain(ctx context.Context) error {
	e.mu.Lock()
	e.draining = true
	for ln := range e.listeners {
		ln.Close()
	}
	for s := range e.sessions {
		s.Drain()
	}
	e.mu.Unlock()
	ended := make(chan struct{})
	go func() { e.running.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	e.mu.Lock()
	left := len(e.sessions)
	for s := range e.sessions {
		s.Kill()
	}
	e.mu.Unlock()
	<-ended
	if left == 0 {
		return nil
	}
	return fmt.Errorf("protocol: %s: drain: %d connections closed by force: %w", e.name, left, ctx.Err())
}

// farewellWindow is how long clients have to read the reason why their session is abandoned.
const farewellWindow = time.Second

// Abandon ends all sessions because this node has lost its leadership: later results may be known
// to this node alone. No further answer is sent, not even one that the engine gives meanwhile, and
// new connections are closed at once. It does not wait; Drain waits until the sessions have ended.
// It may be called again.
func (e *Edge) Abandon() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.abandoned {
		return
	}
	e.abandoned = true
	for s, nc := range e.sessions {
		if a, ok := s.(Abandoner); ok {
			a.Abandon()
		} else {
			cut(s, nc)
		}
	}
	time.AfterFunc(farewellWindow, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		for s, nc := range e.sessions {
			cut(s, nc)
		}
	})
}

// cut closes the socket of a session without the closing message of TLS, whose write might block.
func cut(s Session, nc net.Conn) {
	Socket(nc).Close()
	s.Kill()
}

func (e *Edge) isAbandoned() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.abandoned
}
