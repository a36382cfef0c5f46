package clustertest

import (
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

// pair returns both ends of a connection through a door to node 0: the dialer's and the node's.
func pair(t *testing.T, n *Network) (dialed, accepted net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer ln.Close()
	d := n.open(t, "127.0.0.1:0", ln.Addr().String(), 0)
	dialed, err = net.Dial("tcp", d.Addr())
	must(t, err)
	accepted, err = ln.Accept()
	must(t, err)
	for _, nc := range []net.Conn{dialed, accepted} {
		must(t, nc.SetDeadline(time.Now().Add(Patience)))
		t.Cleanup(func() { nc.Close() })
	}
	return dialed, accepted
}

// say sends a word from one end and checks that the other end receives it.
func say(t *testing.T, from, to net.Conn, word string) {
	t.Helper()
	_, err := io.WriteString(from, word)
	must(t, err)
	hear(t, to, word)
}

func hear(t *testing.T, nc net.Conn, word string) {
	t.Helper()
	got := make([]byte, len(word))
	if _, err := io.ReadFull(nc, got); err != nil || string(got) != word {
		t.Fatalf("%q, %v instead of %q", got, err, word)
	}
}

// TestOneWay checks that data sent while its direction is cut arrives after the network is healed,
// and that the other direction stays open.
func TestOneWay(t *testing.T) {
	n := newNetwork(t.Context())
	dialed, accepted := pair(t, n)
	say(t, dialed, accepted, "before")
	n.Cut(Way{outside, 0})
	_, err := io.WriteString(dialed, "late")
	must(t, err)
	must(t, dialed.(*net.TCPConn).CloseWrite())
	say(t, accepted, dialed, "meanwhile")
	must(t, accepted.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	if k, err := accepted.Read(make([]byte, 1)); !os.IsTimeout(err) {
		t.Errorf("%d bytes, %v by a way that is cut", k, err)
	}
	must(t, accepted.SetReadDeadline(time.Now().Add(Patience)))
	n.Heal()
	hear(t, accepted, "late")
	if _, err := accepted.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the end of a connection is %v", err)
	}
}

func TestSlow(t *testing.T) {
	n := newNetwork(t.Context())
	dialed, accepted := pair(t, n)
	const wait = 50 * time.Millisecond
	n.Slow(wait, Way{0, outside})
	begun := time.Now()
	say(t, accepted, dialed, "slow")
	if took := time.Since(begun); took < wait {
		t.Errorf("it took %v", took)
	}
}

// TestDrop checks that a connection breaks even while its directions are cut.
func TestDrop(t *testing.T) {
	n := newNetwork(t.Context())
	dialed, accepted := pair(t, n)
	say(t, dialed, accepted, "before")
	n.Cut(Way{outside, 0}, Way{0, outside})
	n.Drop(0)
	for _, nc := range []net.Conn{dialed, accepted} {
		if k, err := nc.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
			t.Errorf("%d bytes, %v by a connection that is broken", k, err)
		}
	}
}

// TestDialer checks that a connection is attributed to the name with which its process was started.
// This test also runs as that process.
func TestDialer(t *testing.T) {
	if to := os.Getenv("DIAL"); to != "" {
		nc, err := net.Dial("tcp", to)
		must(t, err)
		io.Copy(io.Discard, nc) //nolint:errcheck // until the other end has seen enough
		return
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer ln.Close()
	node := exec.Command(os.Args[0], "-test.run=^TestDialer$", "--", nameFlag, "n2")
	node.Env = append(node.Environ(), "DIAL="+ln.Addr().String())
	must(t, node.Start())
	defer node.Wait() //nolint:errcheck // it is not under test
	nc, err := ln.Accept()
	must(t, err)
	defer nc.Close()
	if got := dialer(nc); got != 2 {
		t.Errorf("it is node %d", got)
	}
	own, err := net.Dial("tcp", ln.Addr().String())
	must(t, err)
	defer own.Close()
	nc, err = ln.Accept()
	must(t, err)
	defer nc.Close()
	if got := dialer(nc); got != outside {
		t.Errorf("the test is node %d", got)
	}
}
