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
	// leastPatience is how long a client waits for a leader however long there was none.
	leastPatience = time.Second
	// leaderPoll is how often a client that waits for a leader is tried again.
	leaderPoll = 100 * time.Millisecond
	// headerPatience is how long another node may take to say whose connection a stream is.
	headerPatience = 5 * time.Second
	// closingPatience is how long one end of a connection may stay when the other is closed.
	closingPatience = 5 * time.Second
	// turningAway is how long it may take to turn a client away.
	turningAway = 3 * time.Second
)

// Options say how a Proxy reaches the leader.
type Options struct {
	// Dial opens a stream to the leader, whose Proxy receives it. Errors: there is none, or it is
	// this node, or it cannot be reached: all may change within a moment.
	Dial func(context.Context) (net.Conn, error)
	// TurnAway tells the client of a key that no node leads. The connection has a deadline.
	TurnAway   func(key string, nc net.Conn)
	Leaderless func() time.Duration // for how long no leader is known; 0: one is
	Patience   time.Duration        // how long there may be no leader before clients are turned away [10 s]
	Log        *slog.Logger         // [slog.Default()]
}

// Proxy passes the connections of clients to the leader. Any goroutine may call its methods.
type Proxy struct {
	o      Options
	quiet  *slog.Logger // for lines that any client can cause
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	inlets  map[string]*protocol.Inlet // guarded by mu: of the leadership of this node; nil: it follows
	changed chan struct{}              // guarded by mu: closed when inlets changes

	running sync.WaitGroup
}

// New returns a Proxy of a node that follows.
func New(o Options) *Proxy {
	o.Patience, o.Log = cmp.Or(o.Patience, defaultPatience), cmp.Or(o.Log, slog.Default())
	p := &Proxy{o: o, quiet: protocol.Sparse(o.Log), changed: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Lead begins a leadership of this node: clients go to the listeners that it returns, one for each
// address, by the same key.
func (p *Proxy) Lead(at map[string]net.Addr) map[string]net.Listener {
	inlets, listeners := map[string]*protocol.Inlet{}, map[string]net.Listener{}
	for key, addr := range at {
		inlets[key] = protocol.NewInlet(addr)
		listeners[key] = inlets[key]
	}
	p.swap(inlets)
	return listeners
}

// Follow ends it.
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

// inlet is where connections of this key go on this node, nil when they do not; changed is closed
// when that changes.
func (p *Proxy) inlet(key string) (in *protocol.Inlet, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inlets[key], p.changed
}

// Serve accepts clients of a key until ln is closed, which is no error.
func (p *Proxy) Serve(key string, ln net.Listener) error {
	return protocol.Accept(key, ln, p.o.Log, func(nc net.Conn) {
		p.running.Go(func() { p.place(key, nc) })
	})
}

// place has a client served, here or by the leader.
func (p *Proxy) place(key string, nc net.Conn) {
	ctx, cancel := context.WithTimeout(p.ctx, max(p.o.Patience-p.o.Leaderless(), leastPatience))
	defer cancel()
	for {
		in, changed := p.inlet(key)
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
		}
		select {
		case <-ctx.Done():
			p.turnAway(key, nc)
			return
		case <-changed:
		case <-time.After(leaderPoll):
		}
	}
}

// turnAway ends the connection of a client for which there is no leader.
func (p *Proxy) turnAway(key string, nc net.Conn) {
	defer nc.Close()
	defer context.AfterFunc(p.ctx, func() { nc.Close() })()
	p.quiet.Warn("proxy: a client has found no leader", "protocol", key, "peer", nc.RemoteAddr())
	nc.SetDeadline(time.Now().Add(turningAway)) //nolint:errcheck // a socket that is closed is at its end
	p.o.TurnAway(key, nc)
	if protocol.CloseWrite(nc) == nil {
		io.Copy(io.Discard, nc) //nolint:errcheck // what is unread when a socket is closed takes back what was sent
	}
}

// offer has the leader take a connection, or closes the stream to it: it may lead no more, or not
// serve yet.
func (p *Proxy) offer(ctx context.Context, key string, nc, to net.Conn) error {
	stop := context.AfterFunc(ctx, func() { to.Close() })
	h := headerOf(key, nc)
	_, err := to.Write(h.append(nil))
	if err == nil {
		_, err = io.ReadFull(to, make([]byte, 1))
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		to.Close()
	}
	return err
}

// pass copies between a client and the leader until both have closed, or one has and the other
// does not in time.
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
	<-ended
}

// copyTo copies to dst until src ends, and tells dst. Then dst may send for a while.
func copyTo(dst, src net.Conn) {
	_, err := io.Copy(dst, src)
	if err != nil || protocol.CloseWrite(dst) != nil {
		dst.Close()
		src.Close()
		return
	}
	dst.SetReadDeadline(time.Now().Add(closingPatience)) //nolint:errcheck // reading tells
}

// Receive has a connection served that another node passes on, and returns when it is closed.
func (p *Proxy) Receive(from uint64, nc net.Conn) {
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(headerPatience)) //nolint:errcheck // reading tells
	h, err := readHeader(nc)
	if err == nil {
		err = nc.SetDeadline(time.Time{})
	}
	c := &passed{protocol.Lend(nc), h, from}
	if err == nil {
		err = p.receive(c)
	}
	if err != nil {
		p.quiet.Warn("proxy: a connection from another node is refused", "from", from, "err", err)
		return
	}
	<-c.Closed()
}

// receive gives a connection to the leadership of this node, and says so to the other one.
func (p *Proxy) receive(c *passed) error {
	in, _ := p.inlet(c.key)
	if in == nil {
		return errNotLeading
	}
	if _, err := c.Write([]byte{taken}); err != nil {
		return err
	}
	return in.Give(p.ctx, c)
}

var errNotLeading = errors.New("this node does not lead, or does not serve the protocol")

// Close closes the connections that are passed on or wait. Those that this node serves are not its
// affair any more.
func (p *Proxy) Close() {
	p.cancel()
	p.Follow()
	p.running.Wait()
}
