package transport

import (
	"net"
	"sync"
	"testing"
	"time"
)

// wire forwards connections to a node. While it is locked it forwards nothing and closes nothing,
// like a network that has been cut off.
type wire struct {
	sync.RWMutex
	ln net.Listener
	to string
}

// lay lays a wire to a node. The test must unlock it before it ends.
func lay(t *testing.T, to *node) *wire {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	w := &wire{ln: ln, to: to.address}
	go w.serve()
	return w
}

func (w *wire) serve() {
	for {
		dialed, err := w.ln.Accept()
		if err != nil {
			return
		}
		accepted, err := net.Dial("tcp", w.to)
		if err != nil {
			dialed.Close()
			continue
		}
		go w.copy(accepted, dialed)
		go w.copy(dialed, accepted)
	}
}

func (w *wire) copy(dst, src net.Conn) {
	defer dst.Close()
	defer src.Close()
	for b := make([]byte, 64<<10); ; {
		n, err := src.Read(b)
		w.pass()
		if _, failed := dst.Write(b[:n]); err != nil || failed != nil {
			return
		}
	}
}

// pass returns once the wire is not locked.
func (w *wire) pass() {
	w.RLock()
	defer w.RUnlock()
}

// wired returns nodes 1 and 2 with short ticks, which reach each other over wires.
func wired(t *testing.T, change func(*Options)) (a, b *node, wires [2]*wire) {
	t.Helper()
	by := newAuthority(t)
	a, b = listen(t, by, 1, "127.0.0.1:0", change), listen(t, by, 2, "127.0.0.1:0", change)
	for i, n := range []*node{a, b} {
		n.tick = 50 * time.Millisecond // no goroutine uses it yet
		wires[i] = lay(t, n)
	}
	members := map[uint64]string{1: wires[0].ln.Addr().String(), 2: wires[1].ln.Addr().String()}
	a.SetPeers(members, 9)
	b.SetPeers(members, 9)
	a.awaitConnected(2, true)
	b.awaitConnected(1, true)
	return a, b, wires
}

func (n *node) awaitConnected(to uint64, want bool) {
	n.t.Helper()
	for end := time.After(patience); ; {
		if s, _ := n.Status(to); s.Connected == want {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-end:
			n.t.Fatalf("connected to node %d: still %v\n%s", to, !want, n.log)
		}
	}
}

// TestSilentPeer: a node notices that another one does not answer although no connection ends, and
// both are connected again once the network is back.
func TestSilentPeer(t *testing.T) {
	a, b, wires := wired(t, nil)
	for _, w := range wires {
		w.Lock()
	}
	a.awaitConnected(2, false)
	b.awaitConnected(1, false)
	a.log.await(t, "the node has not answered")
	for _, w := range wires {
		w.Unlock()
	}
	a.awaitConnected(2, true)
	b.awaitConnected(1, true)
}

// TestOneWay: both nodes notice that one of them cannot reach the other, although connections the
// other way work.
func TestOneWay(t *testing.T) {
	a, b, wires := wired(t, nil)
	wires[0].Lock() // to node 1, with the answers of its connections
	defer wires[0].Unlock()
	a.awaitConnected(2, false)
	b.awaitConnected(1, false)
}

// TestSilence: a peer is silent after some ticks without an answer.
func TestSilence(t *testing.T) {
	var s silence
	for i, step := range []struct {
		answers uint64
		quiet   int // ticks without an answer after it
		links   int // cuts
	}{{1, linkSilence - 1, 0}, {2, 0, 0}, {3, linkSilence, 1}, {4, 2 * linkSilence, 2}, {9, 1, 0}} {
		links := 0
		for range 1 + step.quiet {
			if s.tick(step.answers) {
				links++
			}
		}
		if links != step.links {
			t.Errorf("step %d: %d cuts", i, links)
		}
	}
}
