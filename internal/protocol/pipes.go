package protocol

import (
	"context"
	"net"
)

// Pipes is a listener whose connections are pipes in memory, so only this process can reach it. Any
// goroutine may call its methods.
type Pipes struct {
	*Inlet
	remote func() net.Addr
}

// NewPipes returns a listener at a local address. remote returns the client's address for each new
// connection.
func NewPipes(local net.Addr, remote func() net.Addr) *Pipes {
	return &Pipes{Inlet: NewInlet(local), remote: remote}
}

// Dial connects to the server. It returns net.ErrClosed if the listener is closed, or the error of
// ctx.
func (p *Pipes) Dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	if err := p.Give(ctx, pipe{far, p.Addr(), p.remote()}); err != nil {
		return nil, err
	}
	return near, nil
}

// pipe is the server's end of a connection.
type pipe struct {
	net.Conn
	local, remote net.Addr
}

func (p pipe) LocalAddr() net.Addr  { return p.local }
func (p pipe) RemoteAddr() net.Addr { return p.remote }
