package clustertest

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// outside is the index of anything that is not a node.
const outside = -1

// Way is a direction between two nodes, by their indexes in the cluster.
type Way struct{ From, To int }

// Network forwards the connections between nodes, and those of clients that connect to a Door. A
// test can cut it, slow it down and heal it. Its methods are safe for concurrent use.
type Network struct {
	ctx context.Context // ends with the test

	mu    sync.Mutex
	cut   map[Way]chan struct{} // guarded by mu: closed when the way is open again
	slow  map[Way]time.Duration // guarded by mu
	lines map[*line]bool        // the open connections; guarded by mu
}

// line is a forwarded connection.
type line struct {
	way  Way             // of what its dialer sends
	ctx  context.Context // ends when it is closed
	hang context.CancelFunc
}

func newNetwork(ctx context.Context) *Network {
	return &Network{ctx: ctx, cut: map[Way]chan struct{}{}, slow: map[Way]time.Duration{}, lines: map[*line]bool{}}
}

// Cut stops the forwarding of everything that is sent from now on, including the end of a
// connection. It is forwarded when the network is healed.
func (n *Network) Cut(ways ...Way) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range ways {
		if n.cut[w] == nil {
			n.cut[w] = make(chan struct{})
		}
	}
}

// Slow delays everything by wait.
func (n *Network) Slow(wait time.Duration, ways ...Way) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range ways {
		n.slow[w] = wait
	}
}

// Heal undoes Cut and Slow.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, open := range n.cut {
		close(open)
	}
	clear(n.cut)
	clear(n.slow)
}

// Drop closes all connections between a node and others.
func (n *Network) Drop(node int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for l := range n.lines {
		if l.way.From == node || l.way.To == node {
			l.hang()
		}
	}
}

// Door is an address that forwards to another one.
type Door struct {
	n      *Network
	ln     net.Listener
	behind string
	node   int
	ctx    context.Context // ends when the door is closed
	close  context.CancelFunc
}

// Open opens a door for clients. Its connections do not count as those of a node.
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

// Addr returns the host:port of the door.
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
			return // the door is closed
		}
		go d.carry(nc)
	}
}

// carry forwards one connection until it ends.
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

// copy forwards one direction of a connection.
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
			dst.(*net.TCPConn).CloseWrite() //nolint:errcheck // the reader reports the error
			return
		}
	}
}

// pass waits until data may be forwarded. It returns false when the connection is closed.
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
