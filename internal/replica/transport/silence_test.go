package transport

import (
	"errors"
	"io"
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

// TestSilence: links are cut after some ticks without a pong, however long they take, and streams
// after more. A link that was just connected gets as long, but saves no stream.
func TestSilence(t *testing.T) {
	const pong, dial, wait = 'p', 'd', '.'
	for events, want := range map[string]struct{ links, streams int }{
		"p....p....p....p":                {0, 0},
		"p.....":                          {1, 0},
		"p....d.....":                     {1, 1}, // both at the end
		"p.....p.....p":                   {2, 0},
		"p..........":                     {2, 1},
		"p....d....d....":                 {0, 1},
		"p.....d...p......":               {2, 0},
		"p..............................": {6, 3},
	} {
		var s silence
		var pongs, dials uint64
		var links, streams int
		for _, e := range events {
			switch e {
			case pong:
				pongs++
			case dial:
				dials++
			case wait:
			}
			cut, closed := s.tick(pongs, dials)
			if cut {
				links++
			}
			if closed {
				streams++
			}
		}
		if links != want.links || streams != want.streams {
			t.Errorf("%s: links %d times, streams %d times", events, links, streams)
		}
	}
}

// TestSilentStreams: streams from and to a node that does not answer are closed.
func TestSilentStreams(t *testing.T) {
	ended := make(chan uint64, 1)
	a, _, wires := wired(t, func(o *Options) {
		o.Stream = func(from uint64, _ string, nc net.Conn) {
			io.Copy(io.Discard, nc) //nolint:errcheck // its end counts
			ended <- from
		}
	})
	near, err := a.Dial(t.Context(), 2, "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wires {
		w.Lock()
		defer w.Unlock()
	}
	near.SetDeadline(time.Now().Add(patience)) //nolint:errcheck // reading tells
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the end that dialed: %v", err)
	}
	select {
	case from := <-ended:
		if from != 1 {
			t.Errorf("the stream of node %d has ended", from)
		}
	case <-time.After(patience):
		t.Error("the other end is still open")
	}
	near.Close()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.streams) > 0 {
		t.Errorf("%d streams are kept", len(a.streams))
	}
}
