package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/authority"
	"fiveways.dev/fiveways/internal/protocol"
)

var quiet = slog.New(slog.DiscardHandler)

// client is a connection with addresses and a TLS state.
type client struct {
	net.Conn
	local, remote net.Addr
	state         tls.ConnectionState
}

func (c *client) LocalAddr() net.Addr                  { return c.local }
func (c *client) RemoteAddr() net.Addr                 { return c.remote }
func (c *client) ConnectionState() tls.ConnectionState { return c.state }

var (
	here  = &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1).To4(), Port: 5672}
	there = &net.TCPAddr{IP: net.ParseIP("fe80::7"), Port: 40000, Zone: "eth0"}
)

// certificates returns the certificates of a client and its authority.
func certificates(t testing.TB) []*x509.Certificate {
	t.Helper()
	ca, err := authority.New("test", time.Now(), time.Now().Add(time.Hour))
	must(t, err)
	pair, err := ca.Client("alice")
	must(t, err)
	key, err := tls.X509KeyPair(pair.Cert, pair.Key)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.Cert())
	chains, err := key.Leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	must(t, err)
	return chains[0]
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestHeader checks that the leader learns everything that protocols need to know about a
// connection.
func TestHeader(t *testing.T) {
	chain := certificates(t)
	secure := tls.ConnectionState{
		HandshakeComplete: true, Version: tls.VersionTLS13, CipherSuite: tls.TLS_AES_128_GCM_SHA256, NegotiatedProtocol: "h2", ServerName: "broker",
		PeerCertificates: chain, VerifiedChains: [][]*x509.Certificate{chain},
	}
	for name, c := range map[string]*client{
		"plain":               {local: here, remote: there},
		"TLS":                 {local: here, remote: there, state: tls.ConnectionState{HandshakeComplete: true, Version: tls.VersionTLS12}},
		"TLS and certificate": {local: here, remote: there, state: secure},
		"a Unix socket":       {local: foreign{"unix", "/data/admin.sock"}, remote: foreign{"unix", ""}},
	} {
		want := headerOf("etcd", c)
		wire := append(want.append(nil), "next"...)
		r := bytes.NewReader(wire)
		got, err := readHeader(r)
		must(t, err)
		if rest, _ := io.ReadAll(r); string(rest) != "next" {
			t.Errorf("%s: %q is left behind the header", name, rest)
		}
		if got.key != want.key || got.local.String() != want.local.String() || got.remote.String() != want.remote.String() || got.remote.Network() != want.remote.Network() {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if !reflect.DeepEqual(got.tls, want.tls) {
			t.Errorf("%s: TLS %+v, want %+v", name, got.tls, want.tls)
		}
	}
}

// TestUncheckedCertificate checks that the leader never sees an unverified certificate.
func TestUncheckedCertificate(t *testing.T) {
	h := header{local: here, remote: there, tls: &tls.ConnectionState{HandshakeComplete: true, PeerCertificates: certificates(t)}}
	got, err := readHeader(bytes.NewReader(h.append(nil)))
	must(t, err)
	if len(got.tls.PeerCertificates)+len(got.tls.VerifiedChains) > 0 {
		t.Error("it was passed on")
	}
}

func FuzzHeader(f *testing.F) {
	for _, h := range []header{
		{key: "amqp", local: here, remote: there},
		{key: "etcd", local: here, remote: there, tls: &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{certificates(f)}}},
	} {
		f.Add(h.append(nil)[4:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHeader(b)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		again, err := readHeader(bytes.NewReader(h.append(nil)))
		if err != nil || again.key != h.key || again.remote.String() != h.remote.String() {
			t.Fatalf("%+v, %v\nwant %+v", again, err, h)
		}
	})
}

// leaderless returns Options.Leaderless for a cluster without a leader since then.
func leaderless(since time.Time) func() time.Duration {
	return func() time.Duration { return time.Since(since) }
}

// sorry turns a client away.
func sorry(key string, nc net.Conn, reason string) {
	io.WriteString(nc, "sorry, no "+key+": "+reason) //nolint:errcheck // the read checks it
}

// pair is two nodes, either of which may lead.
type pair [2]*Proxy

func newPair(t *testing.T) pair {
	var p pair
	for i := range p {
		p[i] = New(Options{Log: quiet, Leaderless: leaderless(time.Now()), TurnAway: sorry, Dial: func(context.Context) (net.Conn, error) {
			other := p[1-i]
			if _, leads, _ := other.inlet("amqp"); !leads {
				return nil, errors.New("the other node does not lead either")
			}
			near, far := net.Pipe()
			go other.Receive(uint64(i+1), far)
			return near, nil
		}})
	}
	t.Cleanup(func() { p[0].Close(); p[1].Close() })
	return p
}

// connect connects a client to a node, on the port for amqp.
func (p pair) connect(t *testing.T, node int) net.Conn {
	t.Helper()
	return p.connectFor(t, node, "amqp")
}

// connectFor is connect for another protocol.
func (p pair) connectFor(t *testing.T, node int, key string) net.Conn {
	t.Helper()
	ln := protocol.NewInlet(here)
	go p[node].Serve(key, ln) //nolint:errcheck // an inlet never fails
	t.Cleanup(func() { ln.Close() })
	near, far := net.Pipe()
	must(t, ln.Give(t.Context(), &client{Conn: far, local: here, remote: there}))
	return near
}

// greeter makes a node lead. It greets each client with the name of the node, the client's address,
// and the number of the node that the client connected to, if that is another one.
func greeter(p *Proxy, name string) {
	ln := p.Lead(map[string]net.Addr{"amqp": here})["amqp"]
	go protocol.Accept("amqp", ln, quiet, func(nc net.Conn) { //nolint:errcheck // an inlet never fails
		go func() {
			by := (*protocol.Clients)(nil).Enter(nc, 1, "amqp", nil).Node
			fmt.Fprintf(nc, "%s %s %d\n", name, nc.RemoteAddr(), by)
			io.Copy(nc, nc) //nolint:errcheck // the client checks it
			nc.Close()
		}()
	})
}

func said(t *testing.T, nc net.Conn, n int) string {
	t.Helper()
	b := make([]byte, n)
	_, err := io.ReadFull(nc, b)
	must(t, err)
	return string(b)
}

// TestPass checks that a client reaches the leader through every node, and that the leader knows
// its own address.
func TestPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		greeter(p[1], "leader")
		for node, by := range []int{1, 0} {
			want := fmt.Sprintf("leader %s %d\n", there, by)
			nc := p.connect(t, node)
			if got := said(t, nc, len(want)); got != want {
				t.Errorf("by node %d: %q", node, got)
			}
			io.WriteString(nc, "echo") //nolint:errcheck // the read checks it
			if got := said(t, nc, 4); got != "echo" {
				t.Errorf("by node %d: %q", node, got)
			}
			nc.Close()
		}
	})
}

// TestWait checks that a client that connects while there is no leader waits for one, on any node.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		a, b := p.connect(t, 0), p.connect(t, 1)
		<-time.After(3 * time.Second)
		greeter(p[0], "first")
		for _, nc := range []net.Conn{a, b} {
			if got := said(t, nc, 5); got != "first" {
				t.Errorf("%q", got)
			}
			nc.Close()
		}
	})
}

// TestNoLeader checks that a client does not wait forever, and only briefly if there has been no
// leader for long. It gets an error.
func TestNoLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		for _, want := range []time.Duration{defaultPatience, leastPatience} {
			start := time.Now()
			nc := p.connect(t, 0)
			if got, err := io.ReadAll(nc); string(got) != "sorry, no amqp: "+protocol.NoLeader || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			if took := time.Since(start); took != want {
				t.Errorf("it was told after %v, want %v", took, want)
			}
		}
	})
}

// TestNotServed checks that a client learns at once that the leader does not serve its protocol.
func TestNotServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		greeter(p[1], "leader")
		start := time.Now()
		got, err := io.ReadAll(p.connectFor(t, 0, "sql"))
		if want := "sorry, no sql: " + protocol.NotServed("sql"); string(got) != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// TestClosedWhileTurnedAway checks that a stopping node does not wait for a client that does not
// read.
func TestClosedWhileTurnedAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.connect(t, 0)
		<-time.After(defaultPatience)
		synctest.Wait() // it is being turned away
		start := time.Now()
		p[0].Close()
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// TestLeaderGoes checks that a client sees the end of its connection when the leader closes it,
// even if the client does not close its own end, and that the next client reaches the next leader.
func TestLeaderGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		ln := p[1].Lead(map[string]net.Addr{"amqp": here})["amqp"]
		a := p.connect(t, 0)
		served, err := ln.Accept()
		must(t, err)
		served.Close()
		if _, err := a.Read(make([]byte, 1)); err == nil {
			t.Error("something was said")
		}
		p[1].Follow()
		if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a listener of a leadership that is over: %v", err)
		}
		greeter(p[0], "second")
		b := p.connect(t, 1)
		if got := said(t, b, 6); got != "second" {
			t.Errorf("%q", got)
		}
		b.Close()
	})
}

// halfClosed is one end of a connection whose sides close one by one.
type halfClosed struct {
	net.Conn // what it reads
	to       net.Conn
}

func (c halfClosed) Write(b []byte) (int, error) { return c.to.Write(b) }
func (c halfClosed) CloseWrite() error           { return c.to.Close() }
func (c halfClosed) Close() error                { return errors.Join(c.to.Close(), c.Conn.Close()) }

// newHalfClosed returns both ends of a connection.
func newHalfClosed() (a, b halfClosed) {
	a1, b1 := net.Pipe()
	a2, b2 := net.Pipe()
	return halfClosed{a1, a2}, halfClosed{b2, b1}
}

// TestHalfClosed checks that a client that has closed its sending side gets everything that the
// leader sends, however slowly it reads.
func TestHalfClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{Log: quiet})
		defer p.Close()
		client, nc := newHalfClosed()
		to, leader := newHalfClosed()
		go p.pass(nc, to)
		must(t, client.CloseWrite())
		go func() {
			io.ReadAll(leader) //nolint:errcheck // the client sends nothing
			for range 10 {
				io.WriteString(leader, "answer") //nolint:errcheck // the client checks it
			}
			leader.Close()
		}()
		for range 10 {
			<-time.After(closingPatience)
			if got := said(t, client, len("answer")); got != "answer" {
				t.Errorf("%q", got)
			}
		}
		if _, err := client.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
	})
}

// TestLeadsSoon checks that a client waits for a leader that does not serve yet: the proxy tries
// again until the leader takes the connection.
func TestLeadsSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var leader *Proxy
		asked := 0
		p := New(Options{Log: quiet, Leaderless: leaderless(time.Now()), Dial: func(context.Context) (net.Conn, error) {
			if asked++; asked == 3 {
				greeter(leader, "leader")
			}
			near, far := net.Pipe()
			go leader.Receive(1, far)
			return near, nil
		}})
		leader = New(Options{Log: quiet})
		defer leader.Close()
		defer p.Close()
		nc := pair{p}.connect(t, 0)
		if got := said(t, nc, len("leader")); got != "leader" || asked != 3 {
			t.Errorf("the client reads %q after %d tries", got, asked)
		}
	})
}

// TestBadHeader checks that a stream without a valid header is closed.
func TestBadHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		greeter(p[0], "leader")
		for _, text := range []string{"", "\x02\x00\x00\x00\x09\x00", "\xff\xff\xff\xff"} {
			near, far := net.Pipe()
			go p[0].Receive(1, far)
			io.WriteString(near, text) //nolint:errcheck // it may be closed already
			if _, err := near.Read(make([]byte, 1)); err == nil {
				t.Errorf("%q: it was served", text)
			}
		}
	})
}
