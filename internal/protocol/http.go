package protocol

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
)

// HTTP serves connections that an Edge has accepted by net/http: each is a session of the edge.
type HTTP struct {
	server *http.Server
	conns  chan net.Conn
	over   context.Context // ends with Close
	end    context.CancelFunc
	start  func() // has the server accept from conns; once
	drain  func() // closes connections as they have answered; does not wait
	ended  chan error

	mu       sync.Mutex
	draining bool                  // guarded by mu
	fresh    map[net.Conn]struct{} // guarded by mu: connections that have sent no request yet
}

// NewHTTP returns what serves connections as server says, whose ConnState it sets.
func NewHTTP(server *http.Server) *HTTP {
	h := &HTTP{conns: make(chan net.Conn), ended: make(chan error, 1), fresh: map[net.Conn]struct{}{}}
	h.over, h.end = context.WithCancel(context.Background())
	h.server = server
	h.server.ConnState = h.follow
	h.start = sync.OnceFunc(func() { go func() { h.ended <- h.server.Serve((*handOver)(h)) }() })
	h.drain = sync.OnceFunc(func() {
		h.closeFresh()
		go h.server.Shutdown(context.Background()) //nolint:errcheck // what it waits for, Close ends
	})
	return h
}

// Handler answers requests as those of connections.
func (h *HTTP) Handler() http.Handler { return h.server.Handler }

// Session is that of one connection.
func (h *HTTP) Session(nc net.Conn) Session {
	return &HTTPConn{Conn: nc, to: h, closed: make(chan struct{})}
}

// Close closes what is left. No session begins afterwards. It is called once.
func (h *HTTP) Close() error {
	h.end()
	h.start() // so that there is an end to wait for
	err := h.server.Close()
	if end := <-h.ended; !errors.Is(end, http.ErrServerClosed) && !errors.Is(end, net.ErrClosed) {
		err = errors.Join(err, end)
	}
	return err
}

// follow keeps account of connections that have sent nothing yet: browsers open some ahead, and a
// Shutdown would wait for them.
func (h *HTTP) follow(nc net.Conn, state http.ConnState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if state != http.StateNew {
		delete(h.fresh, nc)
		return
	}
	h.fresh[nc] = struct{}{}
	if h.draining {
		nc.Close()
	}
}

func (h *HTTP) closeFresh() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.draining = true
	for nc := range h.fresh {
		nc.Close()
	}
}

// handOver is the net.Listener of the server: the connections come from a real one.
type handOver HTTP

// Accept implements net.Listener.
func (h *handOver) Accept() (net.Conn, error) {
	select {
	case nc := <-h.conns:
		return nc, nil
	case <-h.over.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *handOver) Close() error {
	h.end()
	return nil
}

// Addr is nowhere.
func (h *handOver) Addr() net.Addr { return &net.TCPAddr{} }

// HTTPConn is a connection as the server of an HTTP knows it. It tells when it is closed.
type HTTPConn struct {
	net.Conn // as it was given to Session
	to       *HTTP
	once     sync.Once
	closed   chan struct{}
}

// Serve implements Session: it gives the connection away and returns when it is closed.
func (c *HTTPConn) Serve() {
	c.to.start()
	select {
	case c.to.conns <- c:
		<-c.closed
	case <-c.to.over.Done():
		c.Close()
	}
}

// Drain implements Session. It is left to the server, which drains all of its connections.
func (c *HTTPConn) Drain() { c.to.drain() }

// Kill implements Session.
func (c *HTTPConn) Kill() { c.Close() }

// Close implements net.Conn.
func (c *HTTPConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { close(c.closed) })
	return err
}
