package clustertest

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// outside is the place of what is no node.
const outside = -1

// Way is a direction between two nodes, by their places in the cluster.
type Way struct{ From, To int }

// Network carries the connections between nodes, and those of clients that connect to a Door. A
// test cuts it, slows it down and heals it. Its methods may be called from any goroutine.
type Network struct {
	ctx context.Context // until the test ends

	mu    sync.Mutex
	cut   map[Way]chan struct{} // guarded by mu: closed when the way is open again
	slow  map[Way]time.Duration // guarded by mu
	lines map[*line]bool        // guarded by mu: the connections that there are
}

// line is a connection that is carried.
type line struct {
	way  Way             // of what its dialer sends
	ctx  context.Context // until it is closed
	hang context.CancelFunc
}

func newNetwork(ctx context.Context) *Network {
	return &Network{ctx: ctx, cut: map[Way]chan struct{}{}, slow: map[Way]time.Duration{}, lines: map[*line]bool{}}
}

// Cut has nothing pass any more that is sent from now on, not even the end of a connection. What
// waits passes when the network is healed.
func (n *Network) Cut(ways ...Way) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range ways {
		if n.cut[w] == nil {
			n.cut[w] = make(chan struct{})
		}
	}
}

// Slow has everything wait this long before it passes.
func (n *Network) Slow(wait time.Duration, ways ...Way) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range ways {
		n.slow[w] = wait
	}
}

// Heal ends all of that.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, open := range n.cut {
		close(open)
	}
	clear(n.cut)
	clear(n.slow)
}

// Drop closes all connections of a node with others.
func (n *Network) Drop(node int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for l := range n.lines {
		if l.way.From == node || l.way.To == node {
			l.hang()
		}
	}
}

// Door is an address behind which there is another one.
type Door struct {
	n      *Network
	ln     net.Listener
	behind string
	node   int
	ctx    context.Context // until it is closed
	close  context.CancelFunc
}

// Open opens a door for clients. Its connections are not those of a node.
func (n *Network) Open(t testing.TB, behind string) *Door {
	t.Helper()
	return n.open(t, "127.0.0.1:0", behind, outside)
}

func (n *Network) open(t testing.TB, addr, behind string, node int) *Door {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	must(t, err)
	d := &Door{n: n, ln: ln, behind: behind, node: node}
	d.ctx, d.close = context.WithCancel(n.ctx)
	context.AfterFunc(d.ctx, func() { ln.Close() })
	go d.serve()
	return d
}

// Addr is the host:port of the door.
func (d *Door) Addr() string { return d.ln.Addr().String() }

// Close closes the door, and all connections that go through it.
func (d *Door) Close() {
	d.close()
	d.ln.Close()
}

func (d *Door) serve() {
	for {
		nc, err := d.ln.Accept()
		if err != nil {
			return // it is closed
		}
		go d.carry(nc)
	}
}

// carry carries one connection until its end.
func (d *Door) carry(nc net.Conn) {
	defer nc.Close()
	l := &line{way: Way{outside, outside}}
	if d.node != outside {
		l.way = Way{dialer(nc), d.node}
	}
	to, err := net.Dial("tcp", d.behind)
	if err != nil {
		return
	}
	defer to.Close()
	l.ctx, l.hang = context.WithCancel(d.ctx)
	defer l.hang()
	defer context.AfterFunc(l.ctx, func() { nc.Close(); to.Close() })()
	d.n.note(l, true)
	defer d.n.note(l, false)
	var both sync.WaitGroup
	both.Go(func() { d.n.copy(l, to, nc, l.way) })
	both.Go(func() { d.n.copy(l, nc, to, Way{l.way.To, l.way.From}) })
	both.Wait()
}

func (n *Network) note(l *line, there bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if there {
		n.lines[l] = true
	} else {
		delete(n.lines, l)
	}
}

// copy carries what goes one way.
func (n *Network) copy(l *line, dst, src net.Conn, w Way) {
	buf := make([]byte, 64<<10)
	for {
		k, err := src.Read(buf)
		if !n.pass(l, w) {
			return
		}
		if _, failed := dst.Write(buf[:k]); failed != nil || err != nil && err != io.EOF {
			l.hang()
			return
		}
		if err != nil {
			dst.(*net.TCPConn).CloseWrite() //nolint:errcheck // reading tells
			return
		}
	}
}

// pass waits until something may pass; false when its connection is closed.
func (n *Network) pass(l *line, w Way) bool {
	n.mu.Lock()
	wait := n.slow[w]
	n.mu.Unlock()
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-l.ctx.Done():
		}
	}
	for {
		n.mu.Lock()
		open := n.cut[w]
		n.mu.Unlock()
		if open == nil {
			return l.ctx.Err() == nil
		}
		select {
		case <-open:
		case <-l.ctx.Done():
			return false
		}
	}
}
