package protocol

import (
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
)

// Lease returns when no other node can lead: true, or when the leadership of this one is over and
// all sessions have been abandoned: false.
type Lease func() bool

// Listen returns a listener on whose connections nothing is written without the lease: what a
// client reads is not older than its question, though another node may lead by now. A nil lease is
// that of a node alone, which needs none: the listener is ln.
func (l Lease) Listen(ln net.Listener) net.Listener {
	if l == nil {
		return ln
	}
	return &leasedListener{ln, l}
}

type leasedListener struct {
	net.Listener
	lease Lease
}

// Accept implements net.Listener.
func (l *leasedListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &leased{Conn: nc, lease: l.lease}, nil
}

// leased is a connection that waits for the lease before each write. When that has ended meanwhile,
// the write fails and the connection is closed, unless it is the farewell.
type leased struct {
	net.Conn
	lease    Lease
	farewell atomic.Bool
}

// may is asked before each write. Errors: net.ErrClosed.
func (c *leased) may() error {
	if c.lease() || c.farewell.Load() {
		return nil
	}
	Socket(c.Conn).Close()
	return net.ErrClosed
}

// Write implements net.Conn.
func (c *leased) Write(b []byte) (int, error) {
	if err := c.may(); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// Node implements Passed: 0 when the client has connected to this node.
func (c *leased) Node() uint64 {
	if p, ok := c.Conn.(Passed); ok {
		return p.Node()
	}
	return 0
}

// CloseWrite tells the client that nothing more comes, where that can be told.
func (c *leased) CloseWrite() error { return CloseWrite(c.Conn) }

// ConnectionState is what the client's handshake came to (StateOf).
func (c *leased) ConnectionState() tls.ConnectionState {
	state, _ := StateOf(c.Conn)
	return state
}

// SyscallConn is for code that reads and writes without waiting.
func (c *leased) SyscallConn() (syscall.RawConn, error) {
	sc, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &leasedRaw{raw, c}, nil
}

type leasedRaw struct {
	syscall.RawConn
	conn *leased
}

// Write implements syscall.RawConn.
func (r *leasedRaw) Write(fn func(fd uintptr) bool) error {
	if err := r.conn.may(); err != nil {
		return err
	}
	return r.RawConn.Write(fn)
}

// Farewell has what is written from now on leave without a lease: the session is abandoned, and has
// only that to say.
func (c *leased) Farewell() { c.farewell.Store(true) }

// Farewell is for the goroutine that writes to a connection: what it writes next is the last, and
// says only that the session is abandoned (Abandoner).
func Farewell(nc net.Conn) {
	if c, ok := nc.(interface{ Farewell() }); ok {
		c.Farewell()
	}
}
