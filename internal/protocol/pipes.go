package protocol

import (
	"context"
	"net"
	"sync"
)

// Pipes is a listener whose connections are pipes in memory: only this process reaches it. Any
// goroutine may call its methods.
type Pipes struct {
	local  net.Addr
	remote func() net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewPipes returns a listener without connections, at a local address. remote returns the client's
// address of a new connection.
func NewPipes(local net.Addr, remote func() net.Addr) *Pipes {
	return &Pipes{local: local, remote: remote, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects to the server. The error is net.ErrClosed once it does not listen any more, or that
// of ctx.
func (p *Pipes) Dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- pipe{far, p.local, p.remote()}:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case nc := <-p.conns:
		return nc, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *Pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *Pipes) Addr() net.Addr { return p.local }

// pipe is the server's end of a connection.
type pipe struct {
	net.Conn
	local, remote net.Addr
}

func (p pipe) LocalAddr() net.Addr  { return p.local }
func (p pipe) RemoteAddr() net.Addr { return p.remote }
