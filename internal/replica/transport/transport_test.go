package transport

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
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/authority"
	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/test/daemon"
)

const (
	cluster  = 0xc1
	patience = 20 * time.Second // a test that waits longer has failed
)

func newAuthority(t testing.TB) *authority.Authority {
	t.Helper()
	a, err := authority.New("cluster", time.Now(), time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// identity is the configuration of a node with a certificate of by, which trusts trusted.
func identity(t testing.TB, by, trusted *authority.Authority, cluster, node uint64) *tls.Config {
	t.Helper()
	pair, err := by.Node(NodeName(cluster, node))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(trusted.Cert())
	return &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: pool, ClientCAs: pool}
}

// node is a transport on a free port, with the messages it received.
type node struct {
	*Transport
	t           testing.TB
	address     string
	got         chan *pb.Message
	unreachable chan uint64
	log         *lines
}

// lines collects a log and signals each line.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{}
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	l.text.Write(b)
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// await waits for a text in the log.
func (l *lines) await(t testing.TB, text string) {
	t.Helper()
	for end := time.After(patience); !strings.Contains(l.String(), text); {
		select {
		case <-l.more:
		case <-end:
			t.Fatalf("the log does not say %q:\n%s", text, l)
		}
	}
}

// listen starts a node. change may alter its options.
func listen(t testing.TB, a *authority.Authority, id uint64, address string, change func(*Options)) *node {
	t.Helper()
	ln, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{
		t: t, address: ln.Addr().String(), got: make(chan *pb.Message, 1<<16), unreachable: make(chan uint64, 1<<16),
		log: &lines{more: make(chan struct{}, 1)},
	}
	o := Options{
		Cluster: cluster, Self: id, TLS: identity(t, a, a, cluster, id),
		Receive:     func(m *pb.Message) { n.got <- m },
		Unreachable: func(id uint64) { n.unreachable <- id },
		Log:         slog.New(slog.NewTextHandler(n.log, nil)),
	}
	if change != nil {
		change(&o)
	}
	n.Transport = New(o)
	served := make(chan error, 1)
	go func() { served <- n.Serve(ln) }()
	t.Cleanup(func() {
		n.Close()
		if err := <-served; !errors.Is(err, ErrClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
	return n
}

func (n *node) next() *pb.Message {
	n.t.Helper()
	select {
	case m := <-n.got:
		return m
	case <-time.After(patience):
		n.t.Fatalf("nothing came\n%s", n.log)
		return nil
	}
}

// two returns nodes 1 and 2, which know each other.
func two(t testing.TB, change func(*Options)) (a, b *node) {
	t.Helper()
	by := newAuthority(t)
	a, b = listen(t, by, 1, "127.0.0.1:0", change), listen(t, by, 2, "127.0.0.1:0", change)
	members := map[uint64]string{1: a.address, 2: b.address}
	a.SetPeers(members, 9)
	b.SetPeers(members, 9)
	return a, b
}

func from1(typ pb.MessageType, index uint64, entries ...[]byte) *pb.Message {
	from, to, term := uint64(1), uint64(2), uint64(7)
	m := &pb.Message{Type: typ.Enum(), From: &from, To: &to, Term: &term, Index: &index}
	for i, data := range entries {
		at := index + 1 + uint64(i)
		m.Entries = append(m.Entries, &pb.Entry{Term: &term, Index: &at, Data: data})
	}
	return m
}

// TestMessagesArrive: the messages of each link arrive unchanged and in order.
func TestMessagesArrive(t *testing.T) {
	a, b := two(t, nil)
	var appends, others []*pb.Message
	for i := range uint64(500) {
		appends = append(appends, from1(pb.MsgApp, i, bytes.Repeat([]byte{byte(i)}, int(i*i)), []byte("x")))
		others = append(others, from1([]pb.MessageType{pb.MsgHeartbeat, pb.MsgVote}[i%2], i))
		a.Send([]*pb.Message{appends[i], others[i]})
	}
	for len(appends)+len(others) > 0 {
		m := b.next()
		want := &others
		if m.GetType() == pb.MsgApp {
			want = &appends
		}
		if !proto.Equal(m, (*want)[0]) {
			t.Fatalf("got %v, want %v", m, (*want)[0])
		}
		*want = (*want)[1:]
	}
	if s, ok := a.Status(2); !ok || s.Sent != 1000 || s.Dropped != 0 || !s.Connected {
		t.Errorf("%+v", s)
	}
	if _, ok := a.Status(1); ok {
		t.Error("a node is its own peer")
	}
}

// raw dials a node as a foreign client, with any certificate and any hello.
func raw(t *testing.T, to *node, config *tls.Config, first []byte) (*tls.Conn, error) {
	t.Helper()
	c := config.Clone()
	c.InsecureSkipVerify = true // the other end is not under test
	nc, err := net.Dial("tcp", to.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(patience)) //nolint:errcheck // reading tells
	conn := tls.Client(nc, c)
	if _, err := conn.Write(first); err != nil {
		return conn, err
	}
	answer, err := readFrame(conn, maxHello)
	if err == nil && len(answer) > 0 {
		err = errors.New(string(answer))
	}
	return conn, err
}

// TestRefused is a table of refused connections and the log line of each. The node keeps serving
// its peers.
func TestRefused(t *testing.T) {
	by, foreign := newAuthority(t), newAuthority(t)
	greeting := func(h hello) []byte {
		h.clock += time.Now().UnixNano()
		return h.append(nil)
	}
	good := hello{cluster: cluster, from: 2, to: 1}
	newer := greeting(good)
	newer[frameHeader+len(magic)]++
	endFrame(newer, 0)
	broken := greeting(good)
	broken[len(broken)-1] ^= 1
	for _, tc := range []struct {
		name   string
		config *tls.Config
		first  []byte
		log    string
	}{
		{"another authority", identity(t, foreign, by, cluster, 2), greeting(good), "certificate"},
		{"no certificate", &tls.Config{}, greeting(good), "certificate"},
		{"another node's name", identity(t, by, by, cluster, 3), greeting(good), "its certificate is not that of node 2"},
		{"another cluster's name", identity(t, by, by, cluster+1, 2), greeting(good), "its certificate is not that of node 2"},
		{"another cluster", identity(t, by, by, cluster, 2), greeting(hello{cluster: cluster + 1, from: 2, to: 1}), "it is of cluster 00000000000000c2"},
		{"for another node", identity(t, by, by, cluster, 2), greeting(hello{cluster: cluster, from: 2, to: 3}), "it is for node 3, this is node 1"},
		{"no member", identity(t, by, by, cluster, 9), greeting(hello{cluster: cluster, from: 9, to: 1}), "node 9 is no member"},
		{"a stream, where there are none", identity(t, by, by, cluster, 2), greeting(hello{cluster: cluster, from: 2, to: 1, purpose: streamLink}), "takes no streams"},
		{"a clock an hour ahead", identity(t, by, by, cluster, 2), greeting(hello{cluster: cluster, from: 2, to: 1, clock: int64(time.Hour)}), " ahead: the clocks of the nodes are more than 1m0s apart"},
		{"a clock an hour behind", identity(t, by, by, cluster, 2), greeting(hello{cluster: cluster, from: 2, to: 1, clock: int64(-time.Hour)}), " behind: the clocks of the nodes are"},
		{"a newer version", identity(t, by, by, cluster, 2), newer, "version 2 of the cluster's protocol, this node has 1"},
		{"a wrong checksum", identity(t, by, by, cluster, 2), broken, "not a connection of a Fiveways node"},
		{"garbage", identity(t, by, by, cluster, 2), bytes.Repeat([]byte("garbage "), 10), "not a connection of a Fiveways node"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := listen(t, by, 1, "127.0.0.1:0", nil)
			n.SetPeers(map[uint64]string{2: "127.0.0.1:1"}, 9)
			if _, err := raw(t, n, tc.config, tc.first); err == nil {
				t.Fatal("it was let in")
			}
			n.log.await(t, tc.log)
			if _, err := raw(t, n, identity(t, by, by, cluster, 2), greeting(good)); err != nil {
				t.Fatalf("the peer after it: %v", err)
			}
		})
	}
}

// TestLevels: nodes learn from each other's connections which levels they support. A node that does
// not support the level of the other's log is refused, whichever of them dials, and both log it.
func TestLevels(t *testing.T) {
	by := newAuthority(t)
	at := func(id, newest, active uint64, address string) *node {
		n := listen(t, by, id, address, func(o *Options) {
			o.Levels = level.Range{Oldest: 1, Newest: newest}
			o.Stream = func(_ uint64, _ string, nc net.Conn) { nc.Close() }
		})
		n.SetLevel(active)
		return n
	}
	newer, older := at(1, 2, 1, "127.0.0.1:0"), at(2, 1, 1, daemon.FreeAddress(t))
	members := map[uint64]string{1: newer.address, 2: older.address}
	knows := func(n *node, other, newest uint64) {
		t.Helper()
		for end := time.After(patience); ; {
			if s, _ := n.Status(other); s.Levels.Newest == newest {
				return
			}
			select {
			case <-time.After(time.Millisecond):
			case <-end:
				t.Fatalf("it does not know what node %d supports\n%s", other, n.log)
			}
		}
	}
	newer.SetPeers(members, 9)
	older.SetPeers(members, 9)
	knows(newer, 2, 1)
	knows(older, 1, 2)
	newer.SetLevel(2)
	older.Close()
	knows(newer, 2, 0)
	again := at(2, 1, 1, older.address)
	again.SetPeers(members, 9)
	const why = "level: not supported: the log of the cluster is at level 2, and the version that is installed supports level 1"
	for _, n := range []*node{newer, again} {
		n.log.await(t, `cluster: refused a connection" from=`)
		n.log.await(t, `cluster: a node refuses the connection" node=`)
		n.log.await(t, "node 2: "+why)
	}
	knows(newer, 2, 0)
	if nc, err := newer.Dial(t.Context(), 2, "x"); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), why) {
		t.Errorf("Dial: %v, %v", nc, err)
	}
	again.Close()
	at(2, 2, 1, older.address).SetPeers(members, 9)
	knows(newer, 2, 2)
}

// FuzzHello: no frame causes a panic, and encoding restores what was decoded.
func FuzzHello(f *testing.F) {
	h := hello{cluster: cluster, from: 2, to: 1, purpose: streamLink, stream: "x", address: "n2:7000", levels: level.Range{Oldest: 1, Newest: 2}, level: 2}
	f.Add(h.append(nil)[frameHeader:])
	f.Fuzz(func(t *testing.T, payload []byte) {
		frame := append(beginFrame(nil), payload...)
		endFrame(frame, 0)
		h, err := readHello(bytes.NewReader(frame))
		if err != nil {
			return
		}
		if again, err := readHello(bytes.NewReader(h.append(nil))); err != nil || again != h {
			t.Fatalf("%+v, %v, want %+v", again, err, h)
		}
	})
}

// TestJoinProtocol is a table of connections without a certificate to a node that others may join.
// With JoinProtocol they reach Options.Join. None ever becomes a peer, not even by resuming a
// session that such a connection began.
func TestJoinProtocol(t *testing.T) {
	by := newAuthority(t)
	good := hello{cluster: cluster, from: 2, to: 1, clock: time.Now().UnixNano()}
	for _, tc := range []struct {
		name   string
		config *tls.Config
		joins  bool
	}{
		{"no protocol", &tls.Config{}, false},
		{"another protocol", &tls.Config{NextProtos: []string{"h2"}}, false},
		{"the protocol", &tls.Config{NextProtos: []string{JoinProtocol}}, true},
		{"the protocol among others", &tls.Config{NextProtos: []string{"h2", JoinProtocol}}, true},
		{"the protocol, with a peer's certificate", &tls.Config{NextProtos: []string{JoinProtocol}, Certificates: identity(t, by, by, cluster, 2).Certificates}, true},
	} {
		joined := make(chan int, 10) // bytes that it sent
		n := listen(t, by, 1, "127.0.0.1:0", func(o *Options) {
			o.Join = func(nc *tls.Conn) error {
				if nc.ConnectionState().PeerCertificates != nil {
					t.Errorf("%s: a certificate was asked for", tc.name)
				}
				got, err := nc.Read(make([]byte, maxHello))
				joined <- got
				return err
			}
		})
		n.SetPeers(map[uint64]string{2: "127.0.0.1:1"}, 9)
		sessions := tls.NewLRUClientSessionCache(1)
		tc.config.ClientSessionCache, tc.config.ServerName = sessions, "node"
		first := good.append(nil)
		if _, err := raw(t, n, tc.config, first); err == nil {
			t.Errorf("%s: it was let in", tc.name)
		}
		if tc.joins && <-joined != len(first) {
			t.Errorf("%s: it did not all arrive", tc.name)
		}
		if _, err := raw(t, n, &tls.Config{ClientSessionCache: sessions, ServerName: "node"}, first); err == nil {
			t.Errorf("%s: it was let in with the session of the first", tc.name)
		}
		n.log.await(t, "didn't provide a certificate")
		if _, err := raw(t, n, identity(t, by, by, cluster, 2), first); err != nil {
			t.Errorf("%s: the peer after it: %v", tc.name, err)
		}
		n.Close()
		if !tc.joins && len(joined) > 0 {
			t.Errorf("%s: it got to Join", tc.name)
		}
	}
}

// TestNoJoin: a node without Options.Join asks for a certificate whatever the protocol.
func TestNoJoin(t *testing.T) {
	n := listen(t, newAuthority(t), 1, "127.0.0.1:0", nil)
	h := hello{cluster: cluster, from: 2, to: 1, clock: time.Now().UnixNano()}
	if _, err := raw(t, n, &tls.Config{NextProtos: []string{JoinProtocol}}, h.append(nil)); err == nil {
		t.Error("it was let in")
	}
	n.log.await(t, "didn't provide a certificate")
}

// TestJoinersAreStrangers: connections that ask to join count against the limit on strangers until
// they end. Their errors are logged.
func TestJoinersAreStrangers(t *testing.T) {
	by := newAuthority(t)
	inside, held := make(chan struct{}, mostStrangers+1), make(chan struct{})
	n := listen(t, by, 1, "127.0.0.1:0", func(o *Options) {
		o.Join = func(nc *tls.Conn) error {
			nc.SetDeadline(time.Now().Add(patience)) //nolint:errcheck // no matter
			inside <- struct{}{}
			<-held
			return errors.New("a reason")
		}
	})
	dial := func() error {
		conn, err := tls.Dial("tcp", n.address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{JoinProtocol}})
		if err == nil {
			t.Cleanup(func() { conn.Close() })
		}
		return err
	}
	for range mostStrangers {
		if err := dial(); err != nil {
			t.Fatal(err)
		}
		<-inside
	}
	if err := dial(); err == nil {
		t.Error("there was room for another")
	}
	close(held)
	n.log.await(t, `msg="cluster: did not admit a node" from=127.0.0.1:`)
	n.log.await(t, `reason="a reason"`)
	for end := time.Now().Add(patience); dial() != nil; {
		if time.Now().After(end) {
			t.Fatal("there is no room any more")
		}
	}
}

// TestIsNode is a table of names in certificates.
func TestIsNode(t *testing.T) {
	for name, want := range map[string]bool{
		NodeName(cluster, 1): true, NodeName(cluster, 1<<64-1): true, NodeName(cluster+1, 1): false,
		"": false, "x" + NodeName(cluster, 1): false, NodeName(cluster, 1) + ".example": false,
		strings.Replace(NodeName(cluster, 1), "-1", "-01", 1): false, strings.Replace(NodeName(cluster, 1), "-1", "-", 1): false,
	} {
		if got := IsNode(&x509.Certificate{DNSNames: []string{name}}, cluster); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// TestNotTLS: a client of another protocol is refused with one log line.
func TestNotTLS(t *testing.T) {
	n := listen(t, newAuthority(t), 1, "127.0.0.1:0", nil)
	nc, err := net.Dial("tcp", n.address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	fmt.Fprint(nc, "GET / HTTP/1.0\r\n\r\n")
	nc.SetDeadline(time.Now().Add(patience)) //nolint:errcheck // reading tells
	io.Copy(io.Discard, nc)                  //nolint:errcheck // it ends when the node closes it
	n.log.await(t, "cluster: refused a connection")
	if got := strings.Count(n.log.String(), "\n"); got != 1 {
		t.Errorf("%d lines:\n%s", got, n.log)
	}
}

// TestSilentStranger: silent connections are closed, and too many are refused.
func TestSilentStranger(t *testing.T) {
	n := listen(t, newAuthority(t), 1, "127.0.0.1:0", nil)
	for range mostStrangers + 10 {
		nc, err := net.Dial("tcp", n.address)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		nc.SetDeadline(time.Now().Add(patience)) //nolint:errcheck // reading tells
		go io.Copy(io.Discard, nc)               //nolint:errcheck // as above
	}
	n.log.await(t, "timeout")
}

// TestBrokenFrames: a peer that violates the format loses its connection, and nothing that it sent
// is delivered.
func TestBrokenFrames(t *testing.T) {
	frame := func(payload []byte) []byte {
		b := append(beginFrame(nil), payload...)
		endFrame(b, 0)
		return b
	}
	fromOther, _ := appendMessage(nil, from1(pb.MsgHeartbeat, 1))
	wrong := frame([]byte("payload"))
	wrong[4] ^= 1
	for name, sent := range map[string][]byte{
		"checksum":         wrong,
		"too long":         {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0},
		"empty":            frame(nil),
		"unknown record":   frame([]byte{99}),
		"malformed":        frame([]byte{recordMessage, byte(pb.MsgApp), 0xff}),
		"of another node":  frame(fromOther),
		"pong from future": frame([]byte{recordPong, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1}),
	} {
		t.Run(name, func(t *testing.T) {
			by := newAuthority(t)
			n := listen(t, by, 1, "127.0.0.1:0", nil)
			n.SetPeers(map[uint64]string{2: "127.0.0.1:1"}, 9)
			h := hello{cluster: cluster, from: 2, to: 1, clock: time.Now().UnixNano()}
			conn, err := raw(t, n, identity(t, by, by, cluster, 2), h.append(nil))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write(sent); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				t.Error("the connection is still there")
			}
			n.log.await(t, "a connection of a node has ended")
			if len(n.got) > 0 {
				t.Errorf("it took %v", <-n.got)
			}
		})
	}
}

// TestPeerThatNeverReads: messages for it are dropped once its queue is full, its node is reported
// unreachable, and the other peers get theirs.
func TestPeerThatNeverReads(t *testing.T) {
	by := newAuthority(t)
	held := make(chan struct{})
	var once sync.Once
	deaf := listen(t, by, 3, "127.0.0.1:0", func(o *Options) { o.Receive = func(*pb.Message) { <-held } })
	t.Cleanup(func() { once.Do(func() { close(held) }) }) // before it is closed
	a, b := listen(t, by, 1, "127.0.0.1:0", nil), listen(t, by, 2, "127.0.0.1:0", nil)
	members := map[uint64]string{1: a.address, 2: b.address, 3: deaf.address}
	for _, n := range []*node{a, b, deaf} {
		n.SetPeers(members, 9)
	}
	large := make([]byte, 1<<20)
	for dropped := false; !dropped; {
		m := from1(pb.MsgApp, 1, large)
		*m.To = 3
		a.Send([]*pb.Message{m})
		select {
		case id := <-a.unreachable:
			dropped = id == 3
		default:
		}
	}
	a.Send([]*pb.Message{from1(pb.MsgApp, 5, large)})
	if m := b.next(); m.GetIndex() != 5 {
		t.Errorf("got %v", m)
	}
	if s, _ := a.Status(3); s.Dropped == 0 {
		t.Errorf("%+v", s)
	}
}

// TestPeerComesBack: messages to an absent node are dropped, and flow again when it returns.
func TestPeerComesBack(t *testing.T) {
	by := newAuthority(t)
	a, b := listen(t, by, 1, "127.0.0.1:0", nil), listen(t, by, 2, daemon.FreeAddress(t), nil)
	members := map[uint64]string{1: a.address, 2: b.address}
	a.SetPeers(members, 9)
	b.SetPeers(members, 9)
	a.Send([]*pb.Message{from1(pb.MsgHeartbeat, 1)})
	b.next()
	b.Close()
	for away := false; !away; {
		a.Send([]*pb.Message{from1(pb.MsgHeartbeat, 2)})
		select {
		case <-a.unreachable:
			away = true
		case <-time.After(time.Millisecond):
		}
	}
	a.log.await(t, "cluster: no connection to a node")
	again := listen(t, by, 2, b.address, nil)
	again.SetPeers(members, 9)
	for {
		a.Send([]*pb.Message{from1(pb.MsgHeartbeat, 3)})
		select {
		case m := <-again.got:
			if m.GetIndex() == 3 {
				return
			}
		case <-time.After(time.Millisecond):
		}
	}
}

// TestRemovedPeer: a removed node is cut off in both directions.
func TestRemovedPeer(t *testing.T) {
	a, b := two(t, nil)
	a.Send([]*pb.Message{from1(pb.MsgHeartbeat, 1)})
	b.next()
	b.SetPeers(nil, 9)
	for refused := false; !refused; { // by b, which does not know of the removal
		a.Send([]*pb.Message{from1(pb.MsgHeartbeat, 2)})
		select {
		case <-a.unreachable:
			refused = true
		case <-time.After(time.Millisecond):
		}
	}
	a.log.await(t, "node 1 is no member")
	if _, ok := b.Status(1); ok {
		t.Error("it is still a peer")
	}
	if _, err := b.Dial(t.Context(), 1, "x"); !errors.Is(err, ErrUnknownPeer) {
		t.Errorf("Dial: %v", err)
	}
}

// TestNewerPeer: a node that is behind admits one that was added meanwhile, and can answer it. That
// one stays a peer until the membership excludes it.
func TestNewerPeer(t *testing.T) {
	by := newAuthority(t)
	behind, newer := listen(t, by, 1, "127.0.0.1:0", nil), listen(t, by, 2, "127.0.0.1:0", nil)
	newer.o.Address = newer.address
	newer.SetPeers(map[uint64]string{1: behind.address}, 2)
	behind.SetPeers(nil, 1)
	from2 := func() *pb.Message {
		m := from1(pb.MsgHeartbeat, 1)
		m.From, m.To = m.To, m.From
		return m
	}
	newer.Send([]*pb.Message{from2()})
	behind.next()
	behind.SetPeers(nil, 1) // still behind
	behind.Send([]*pb.Message{from1(pb.MsgHeartbeatResp, 2)})
	newer.next()
	behind.SetPeers(nil, 2)
	if _, ok := behind.Status(2); ok {
		t.Error("a node that has left is still a peer")
	}
	newer.Send([]*pb.Message{from2()})
	newer.log.await(t, "node 2 is no member")
}

// TestMovedPeer: a node at another address than its listed one is dialed there once it has
// connected, until the membership lists yet another address.
func TestMovedPeer(t *testing.T) {
	by := newAuthority(t)
	a, moved := listen(t, by, 1, "127.0.0.1:0", nil), listen(t, by, 2, "127.0.0.1:0", nil)
	moved.o.Address = moved.address
	before := map[uint64]string{2: daemon.FreeAddress(t)}
	a.SetPeers(before, 9)
	moved.SetPeers(map[uint64]string{1: a.address}, 9)
	hello := from1(pb.MsgHeartbeat, 1)
	hello.From, hello.To = hello.To, hello.From
	moved.Send([]*pb.Message{hello})
	a.next()
	a.SetPeers(before, 9)             // of another change
	for arrived := false; !arrived; { // the first may be lost with a dial of the listed address
		a.Send([]*pb.Message{from1(pb.MsgHeartbeatResp, 2)})
		select {
		case <-moved.got:
			arrived = true
		case <-time.After(10 * time.Millisecond):
		}
	}
	if s, _ := a.Status(2); s.Address != moved.address {
		t.Errorf("it is at %s, not %s", moved.address, s.Address)
	}
	a.SetPeers(map[uint64]string{2: "127.0.0.1:1"}, 9)
	if s, _ := a.Status(2); s.Address != "127.0.0.1:1" {
		t.Errorf("the members say 127.0.0.1:1, not %s", s.Address)
	}
}

// TestStreams: a stream carries bytes both ways and names its sender and its purpose.
func TestStreams(t *testing.T) {
	a, b := two(t, func(o *Options) {
		if o.Self == 1 {
			return
		}
		o.Stream = func(from uint64, purpose string, nc net.Conn) {
			defer nc.Close()
			got, err := io.ReadAll(io.LimitReader(nc, 5))
			fmt.Fprintf(nc, "%d %s %s %v", from, purpose, got, err)
		}
	})
	nc, err := a.Dial(t.Context(), 2, "snapshot")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := nc.Write([]byte("bytes")); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(nc); string(got) != "1 snapshot bytes <nil>" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := b.Dial(t.Context(), 1, "snapshot"); !errors.Is(err, ErrRefused) {
		t.Errorf("where none are taken: %v", err)
	}
	a.Close()
	if _, err := a.Dial(context.Background(), 2, "snapshot"); !errors.Is(err, ErrClosed) && !errors.Is(err, ErrUnknownPeer) {
		t.Errorf("after Close: %v", err)
	}
}

// TestSkew: a node learns the clock difference to another and logs it once. A clock that is far off
// ends the connections until it is right again.
func TestSkew(t *testing.T) {
	var ahead atomic.Int64
	ahead.Store(int64(30 * time.Second))
	a, b := two(t, func(o *Options) {
		if o.Self == 2 {
			o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		}
	})
	until := func(n *node, ok func(PeerStatus) bool) {
		t.Helper()
		end := time.Now().Add(patience)
		for range time.Tick(time.Millisecond) {
			s, _ := n.Status(3 - n.o.Self)
			if ok(s) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("node %d: %+v\n%s", n.o.Self, s, n.log)
			}
		}
	}
	for n, want := range map[*node]time.Duration{a: 30 * time.Second, b: -30 * time.Second} {
		until(n, func(s PeerStatus) bool { // when a ping is back
			d := s.Skew - want
			return s.RTT > 0 && d.Abs() <= s.RTT && strings.Count(n.log.String(), "the clock of a node differs") == 1
		})
	}
	ahead.Store(int64(time.Hour))
	until(a, func(s PeerStatus) bool { return !s.Connected })
	until(b, func(s PeerStatus) bool { return !s.Connected })
	a.log.await(t, "node 2: its clock is 1h0m0s ahead")
	ahead.Store(0)
	until(a, func(s PeerStatus) bool { return s.Connected })
	until(b, func(s PeerStatus) bool { return s.Connected })
	a.log.await(t, "the clock of a node agrees again")
}

// BenchmarkAppend measures the cost of sending an entry to a peer, with TLS.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{100, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			got := make(chan struct{}, 1<<20)
			n1, n2 := two(b, func(o *Options) { o.Receive = func(*pb.Message) { got <- struct{}{} } })
			_ = n2
			b.SetBytes(int64(size))
			data := make([]byte, size)
			const inFlight = 32
			for i := 0; i < b.N+inFlight; i++ {
				if i < b.N {
					n1.Send([]*pb.Message{from1(pb.MsgApp, uint64(i), data)})
				}
				if i >= inFlight {
					<-got
				}
			}
		})
	}
}
