package protocol

import (
	"fmt"
	"net"
	"testing"
)

// guestAt is a connection from an address.
type guestAt struct {
	net.Conn
	from   string
	closed bool
}

func (g *guestAt) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(g.from), Port: 1} }
func (g *guestAt) LocalAddr() net.Addr  { return &net.TCPAddr{} }
func (g *guestAt) Close() error         { g.closed = true; return nil }

// open counts the guests that were not closed.
func open(guests []*guestAt) (n int) {
	for _, g := range guests {
		if !g.closed {
			n++
		}
	}
	return n
}

// TestStrangers checks that connections without a login are bounded in total and per address, that
// neither bound keeps newcomers out, and that a login ends the counting of a connection.
func TestStrangers(t *testing.T) {
	cs := NewClientsFor(8)
	enter := func(from string) (*guestAt, *Client) {
		g := &guestAt{from: from}
		return g, cs.Enter(g, uint64(len(cs.All())+1), "x", &part{})
	}
	first, known := enter("10.0.0.1")
	known.LogIn(Login{User: "u"})
	var one, many []*guestAt
	for range 50 { // from one address, a quarter
		g, _ := enter("10.0.0.1")
		one = append(one, g)
		if g.closed {
			t.Fatal("the newcomer has to go")
		}
	}
	if n := open(one); n != 2 || first.closed {
		t.Errorf("%d connections of one address are left; the one that logged in is closed: %v", n, first.closed)
	}
	for i := range 50 {
		g, _ := enter(fmt.Sprintf("10.0.1.%d", i))
		many = append(many, g)
		if g.closed {
			t.Fatal("the newcomer has to go")
		}
	}
	if n := open(one) + open(many); n != 8 || first.closed {
		t.Errorf("%d connections are left; the one that logged in is closed: %v", n, first.closed)
	}
	for _, c := range cs.All() {
		c.Leave()
		c.Leave()
	}
	if l := cs.pending; len(l.all) != 0 || len(l.from) != 0 {
		t.Errorf("%d connections are counted that are gone, %d addresses", len(l.all), len(l.from))
	}
}

// TestDefaultStrangers checks that the default bound leaves files for other uses.
func TestDefaultStrangers(t *testing.T) {
	if n := newPendingConns(0).most; n < 1 || n > maxPending || n > openFiles()/pendingShare {
		t.Errorf("%d, with %d files", n, openFiles())
	}
}
