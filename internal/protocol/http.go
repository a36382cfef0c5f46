package protocol

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
)

// HTTP has net/http serve the connections that an Edge accepts. Each is a session of the edge.
type HTTP struct {
	server *http.Server
	conns  chan net.Conn
	over   context.Context // ends with Close
	end    context.CancelFunc
	start  func() // starts the server's accept loop; called once
	drain  func() // closes each connection after its current answer; does not wait
	ended  chan error

	mu       sync.Mutex
	draining bool                  // guarded by mu
	fresh    map[net.Conn]struct{} // guarded by mu: connections that have sent no request yet
}

// NewHTTP returns an HTTP that serves connections with server, whose ConnState it sets.
func NewHTTP(server *http.Server) *HTTP {
	h := &HTTP{conns: make(chan net.Conn), ended: make(chan error, 1), fresh: map[net.Conn]struct{}{}}
	h.over, h.end = context.WithCancel(context.Background())
	h.server = server
	h.server.ConnState = h.follow
	h.start = sync.OnceFunc(func() { go func() { h.ended <- h.server.Serve((*handOver)(h)) }() })
	h.drain = sync.OnceFunc(func() {
		h.closeFresh()
		go h.server.Shutdown(context.Background()) //nolint:errcheck // Close ends what it waits for
	})
	return h
}

// Handler returns the handler of the server.
func (h *HTTP) Handler() http.Handler { return h.server.Handler }

// Session returns the session of a connection.
func (h *HTTP) Session(nc net.Conn) Session {
	return &HTTPConn{Conn: nc, to: h, closed: make(chan struct{})}
}

// Close closes all connections. No session begins afterwards. It must be called only once.
func (h *HTTP) Close() error {
	h.end()
	h.start() // or the receive below would wait forever
	err := h.server.Close()
	if end := <-h.ended; !errors.Is(end, http.ErrServerClosed) && !errors.Is(end, net.ErrClosed) {
		err = errors.Join(err, end)
	}
	return err
}

// follow tracks connections that have sent nothing yet. Browsers open some ahead of time, and
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

// handOver is the net.Listener of the server. The edge gives it the connections.
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

// Addr implements net.Listener. It has no real address to return.
func (h *handOver) Addr() net.Addr { return &net.TCPAddr{} }

// HTTPConn is the connection that an HTTP gives to its server. It reports when it is closed.
type HTTPConn struct {
	net.Conn // the connection that was passed to Session
	to       *HTTP
	once     sync.Once
	closed   chan struct{}
}

// Serve implements Session: it hands the connection to the server and returns when it is closed.
func (c *HTTPConn) Serve() {
	c.to.start()
	select {
	case c.to.conns <- c:
		<-c.closed
	case <-c.to.over.Done():
		c.Close()
	}
}

// Drain implements Session. The server then drains all of its connections.
func (c *HTTPConn) Drain() { c.to.drain() }

// Kill implements Session.
func (c *HTTPConn) Kill() { c.Close() }

// Close implements net.Conn.
func (c *HTTPConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { close(c.closed) })
	return err
}
