package proxy

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/protocol"
)

const (
	defaultPatience = 10 * time.Second
	// leastPatience is the minimum time that a client waits for a leader, however long there has
	// been none.
	leastPatience = time.Second
	// leaderPoll is how often a client that waits for a leader tries again.
	leaderPoll = 100 * time.Millisecond
	// headerPatience is how long another node may take to send the header of a stream.
	headerPatience = 5 * time.Second
	// closingPatience is how long a client may stay connected after the leader has closed.
	closingPatience = 5 * time.Second
	// turningAway is how long turning a client away may take.
	turningAway = 3 * time.Second
)

// Options configures a Proxy.
type Options struct {
	// Dial opens a stream to the leader, whose Proxy receives it. It fails if there is no leader,
	// if this node leads, or if the leader cannot be reached. All of this may change at any time.
	Dial func(context.Context) (net.Conn, error)
	// TurnAway tells a client why it is not served, in the protocol of the key: what Unled returns,
	// or protocol.NotServed. The connection has a deadline.
	TurnAway   func(key string, nc net.Conn, reason string)
	Leaderless func() time.Duration // for how long no leader has been known; 0 if one is known
	Unled      func() string        // why none is known [protocol.NoLeader]
	Patience   time.Duration        // time without a leader until clients are turned away [10 s]
	Log        *slog.Logger         // [slog.Default()]
}

// Proxy passes client connections to the leader. Any goroutine may call its methods.
type Proxy struct {
	o      Options
	quiet  *slog.Logger // for log lines that any client can cause
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	inlets  map[string]*protocol.Inlet // guarded by mu: while this node leads; nil while it follows
	changed chan struct{}              // guarded by mu: closed when inlets changes

	running sync.WaitGroup
}

// New returns the Proxy of a node, which starts as a follower.
func New(o Options) *Proxy {
	o.Patience, o.Log = cmp.Or(o.Patience, defaultPatience), cmp.Or(o.Log, slog.Default())
	if o.Unled == nil {
		o.Unled = func() string { return protocol.NoLeader }
	}
	p := &Proxy{o: o, quiet: protocol.Sparse(o.Log), changed: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Lead begins a leadership of this node. Clients are passed to the returned listeners, one for each
// address, by key.
func (p *Proxy) Lead(at map[string]net.Addr) map[string]net.Listener {
	inlets, listeners := map[string]*protocol.Inlet{}, map[string]net.Listener{}
	for key, addr := range at {
		inlets[key] = protocol.NewInlet(addr)
		listeners[key] = inlets[key]
	}
	p.swap(inlets)
	return listeners
}

// Follow ends the leadership of this node.
func (p *Proxy) Follow() { p.swap(nil) }

func (p *Proxy) swap(inlets map[string]*protocol.Inlet) {
	p.mu.Lock()
	old := p.inlets
	p.inlets = inlets
	close(p.changed)
	p.changed = make(chan struct{})
	p.mu.Unlock()
	for _, in := range old {
		in.Close()
	}
}

// inlet returns the inlet for connections of this key, or nil if this node does not lead, or does
// not serve the protocol. changed is closed when that changes.
func (p *Proxy) inlet(key string) (in *protocol.Inlet, leads bool, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inlets[key], p.inlets != nil, p.changed
}

// Serve accepts clients for a key until ln is closed, which is not an error.
func (p *Proxy) Serve(key string, ln net.Listener) error {
	return protocol.Accept(key, ln, p.o.Log, func(nc net.Conn) {
		p.running.Go(func() { p.place(key, nc) })
	})
}

// place has a client served by this node or by the leader.
func (p *Proxy) place(key string, nc net.Conn) {
	ctx, cancel := context.WithTimeout(p.ctx, max(p.o.Patience-p.o.Leaderless(), leastPatience))
	defer cancel()
	for {
		in, _, changed := p.inlet(key)
		if in != nil && in.Give(ctx, nc) == nil {
			return
		}
		if in == nil {
			to, err := p.o.Dial(ctx)
			if err == nil {
				err = p.offer(ctx, key, nc, to)
			}
			if err == nil {
				p.pass(nc, to)
				return
			}
			if errors.Is(err, errNotServed) {
				p.quiet.Warn("proxy: the leader does not serve the protocol of a client", "protocol", key, "peer", nc.RemoteAddr())
				p.turnAway(key, nc, protocol.NotServed(key))
				return
			}
		}
		select {
		case <-ctx.Done():
			p.quiet.Warn("proxy: a client has found no leader", "protocol", key, "peer", nc.RemoteAddr())
			p.turnAway(key, nc, p.o.Unled())
			return
		case <-changed:
		case <-time.After(leaderPoll):
		}
	}
}

// turnAway rejects and closes the connection of a client, and tells it why.
func (p *Proxy) turnAway(key string, nc net.Conn, reason string) {
	defer nc.Close()
	defer context.AfterFunc(p.ctx, func() { nc.Close() })()
	nc.SetDeadline(time.Now().Add(turningAway)) //nolint:errcheck // fails only if the socket is closed
	p.o.TurnAway(key, nc, reason)
	if protocol.CloseWrite(nc) == nil {
		io.Copy(io.Discard, nc) //nolint:errcheck // closing with unread data resets the connection
	}
}

// offer asks the leader to take a connection. If the leader does not, because it lost its
// leadership, does not serve yet, or not this protocol (errNotServed), the stream to it is closed.
func (p *Proxy) offer(ctx context.Context, key string, nc, to net.Conn) error {
	stop := context.AfterFunc(ctx, func() { to.Close() })
	h := headerOf(key, nc)
	answer := make([]byte, 1)
	_, err := to.Write(h.append(nil))
	if err == nil {
		_, err = io.ReadFull(to, answer)
	}
	if err == nil && answer[0] == notServed {
		err = errNotServed
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		to.Close()
	}
	return err
}

// pass copies data between a client and the leader until both have closed, or until the leader has
// closed and the client does not follow in time. A client that has closed only its sending side
// reads on for as long as the leader sends: that may be long, if the client is slow.
func (p *Proxy) pass(nc, to net.Conn) {
	defer nc.Close()
	defer to.Close()
	defer context.AfterFunc(p.ctx, func() { nc.Close(); to.Close() })()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		copyTo(to, nc)
	}()
	copyTo(nc, to)
	nc.SetReadDeadline(time.Now().Add(closingPatience)) //nolint:errcheck // a read reports the error
	<-ended
}

// copyTo copies to dst until src ends, and then closes the write side of dst.
func copyTo(dst, src net.Conn) {
	_, err := io.Copy(dst, src)
	if err != nil || protocol.CloseWrite(dst) != nil {
		dst.Close()
		src.Close()
	}
}

// Receive serves a client connection that another node passes on, and returns when it is closed.
func (p *Proxy) Receive(from uint64, nc net.Conn) {
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(headerPatience)) //nolint:errcheck // a read reports the error
	h, err := readHeader(nc)
	if err == nil {
		err = nc.SetDeadline(time.Time{})
	}
	c := &passed{protocol.Lend(nc), h, from}
	if err == nil {
		err = p.receive(c)
	}
	if err != nil {
		p.quiet.Warn("proxy: a connection from another node is refused", "from", from, "protocol", h.key, "err", err)
		return
	}
	<-c.Closed()
}

// receive passes a connection to the servers of this node, and tells the other node whether it
// does.
func (p *Proxy) receive(c *passed) error {
	in, leads, _ := p.inlet(c.key)
	if !leads {
		return errNotLeading
	}
	if in == nil {
		c.Write([]byte{notServed}) //nolint:errcheck // then the other node asks again
		return errNotServed
	}
	if _, err := c.Write([]byte{taken}); err != nil {
		return err
	}
	return in.Give(p.ctx, c)
}

var (
	errNotLeading = errors.New("this node does not lead")
	errNotServed  = errors.New("the leader does not serve the protocol")
)

// Close closes connections that are passed on or waiting. It does not touch connections that this
// node serves.
func (p *Proxy) Close() {
	p.cancel()
	p.Follow()
	p.running.Wait()
}
