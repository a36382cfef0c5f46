package etcd

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/keyspace/grants"
	"fiveways.dev/fiveways/internal/protocol"
)

// agent is the state of a client connection: the sessions of the engine, one for each user that the
// client names. Calls find it by the address of their peer ([agentAddr]).
type agent struct {
	srv    *Server
	id     uint64
	nc     net.Conn
	client *protocol.Client // set before the connection is served

	certUser string                // the user that the client's certificate names, or ""
	login    atomic.Pointer[token] // of certUser; nil: not requested yet
	refused  atomic.Uint64         // generation of the broker's rules + 1 that refused certUser

	mu       sync.Mutex
	closed   bool
	admitted bool             // holds a slot of Options.Connections
	seats    map[string]*seat // by user
	operator *broker.Session  // of root, which may do everything; nil until it is opened
}

// seat is one user on one connection: a session of the engine, which counts toward the limits of
// connections. It ends with the connection, or when the engine ends it because the user was
// deleted. Other seats on the connection continue.
type seat struct {
	session *broker.Session
	over    context.Context // ends with the seat, and ends its streams
	end     context.CancelCauseFunc
}

// rootVHost is the virtual host of all keys.
const rootVHost = "/"

// errTooMany refuses calls when the node has too many connections.
var errTooMany = status.Error(codes.ResourceExhausted, "etcdserver: too many connections")

// seat returns the seat of a user. The first seat takes a connection slot. Errors: those of
// NewSession, errTooMany, failure.ErrClosed when the connection is closed.
func (a *agent) seat(user string) (*seat, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, failure.ErrClosed
	}
	if st := a.seats[user]; st != nil {
		return st, nil
	}
	if !a.admitted && !a.srv.o.Connections.Acquire() {
		a.srv.quiet.Warn("etcd: connection refused: too many", "conn", a.id, "peer", a.nc.RemoteAddr(), "max", a.srv.o.Connections.Max())
		return nil, errTooMany
	}
	a.admitted = true
	st := &seat{}
	st.over, st.end = context.WithCancelCause(context.Background())
	var err error
	st.session, err = a.srv.broker.NewSession(broker.SessionOptions{
		User: user, VHost: rootVHost, Name: a.client.Name(), Outside: true, Done: st.over.Done(),
		Evict: func(reason error) { go a.unseat(user, st, reason) },
	})
	if err != nil {
		st.end(err)
		a.srv.quiet.Warn("etcd: session refused", "conn", a.id, "peer", a.nc.RemoteAddr(), "user", user, "err", err)
		return nil, err
	}
	if a.seats == nil {
		a.seats = map[string]*seat{}
	}
	a.seats[user] = st
	a.client.LogIn(protocol.Login{User: user, VHost: rootVHost, Version: "etcd v3"})
	return st, nil
}

// unseat ends the seat of a user on the connection.
func (a *agent) unseat(user string, st *seat, reason error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seats[user] != st {
		return // the connection ended it first
	}
	delete(a.seats, user)
	a.srv.log.Warn("etcd: session ended by the engine", "conn", a.id, "peer", a.nc.RemoteAddr(), "user", user, "err", reason)
	st.leave(reason)
}

// leave ends a seat.
func (st *seat) leave(reason error) {
	st.end(reason)
	st.session.Close()
}

// operate returns the session of the engine in which root works. Errors: failure.ErrVHostNotFound,
// failure.ErrClosed when the connection is closed.
func (a *agent) operate() (*broker.Session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, failure.ErrClosed
	}
	if a.operator == nil || !a.srv.broker.HasVHost(a.operator.VHostID()) {
		s, err := a.srv.broker.Operate(rootVHost)
		if err != nil {
			return nil, err
		}
		if a.operator != nil { // its virtual host was deleted, and created again
			a.operator.Close()
		}
		s.User = grants.Root
		a.operator = s
		a.client.LogIn(protocol.Login{User: grants.Root, VHost: rootVHost, Version: "etcd v3"})
	}
	return a.operator, nil
}

// close ends all seats.
func (a *agent) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed = true; a.admitted {
		a.srv.o.Connections.Release()
		a.admitted = false
	}
	for _, st := range a.seats {
		st.leave(failure.ErrClosed)
	}
	a.seats = nil
	if a.operator != nil {
		a.operator.Close()
	}
}

// clientConn is the socket of a client. Its remote address carries the agent.
type clientConn struct {
	net.Conn
	agent *agent
}

// agentAddr is the address of a client, with its agent.
type agentAddr struct {
	net.Addr
	agent *agent
}

// RemoteAddr returns the client's address as an agentAddr.
func (c *clientConn) RemoteAddr() net.Addr { return agentAddr{c.Conn.RemoteAddr(), c.agent} }

// SyscallConn implements syscall.Conn, for non-blocking reads and writes.
func (c *clientConn) SyscallConn() (syscall.RawConn, error) {
	sc, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, syscall.EINVAL
	}
	return sc.SyscallConn()
}

// Client returns the connection as operators see it.
func (c *clientConn) Client() *protocol.Client { return c.agent.client }

// Farewell calls protocol.Farewell on the socket.
func (c *clientConn) Farewell() { protocol.Farewell(c.Conn) }

// CloseWrite tells the client that nothing further is sent.
func (c *clientConn) CloseWrite() error { return protocol.CloseWrite(c.Conn) }

// ConnectionState returns the state of the TLS handshake. HandshakeComplete is false for a plain
// connection.
func (c *clientConn) ConnectionState() tls.ConnectionState {
	state, _ := protocol.StateOf(c.Conn)
	return state
}

// isLoopback reports whether the client is on this machine. A connection without an IP address (a
// pipe, a Unix socket) counts as local.
func isLoopback(addr net.Addr) bool {
	if a, ok := addr.(agentAddr); ok {
		addr = a.Addr
	}
	return protocol.IsLoopback(addr)
}

// headed is a connection whose first bytes were already read; it returns them again.
type headed struct {
	*clientConn
	head []byte
}

func (h *headed) Read(b []byte) (int, error) {
	if len(h.head) > 0 {
		n := copy(b, h.head)
		h.head = h.head[n:]
		return n, nil
	}
	n, err := h.clientConn.Read(b)
	h.agent.client.In.Add(uint64(n))
	return n, err
}

func (h *headed) Write(b []byte) (int, error) {
	n, err := h.clientConn.Write(b)
	h.agent.client.Out.Add(uint64(n))
	return n, err
}
