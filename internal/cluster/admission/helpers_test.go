package admission

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/authority"
	"fiveways.dev/fiveways/internal/logtest"
	"fiveways.dev/fiveways/internal/replica/transport"
)

const (
	cluster  = 0xc1
	patience = 20 * time.Second // a test that waits longer fails
)

// founded returns the identity of node 1 of a new cluster.
func founded(t testing.TB, cluster uint64, now time.Time) *Identity {
	t.Helper()
	dir := t.TempDir()
	if err := Found(dir, cluster, 1, now); err != nil {
		t.Fatal(err)
	}
	id, err := Load(dir, cluster, 1)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// host is the Host of a test.
type host struct {
	leader string // "" if unknown
	here   bool
	add    func(ctx context.Context, n Newcomer) (uint64, map[uint64]string, error)

	asked bool // a method was called
}

func (h *host) Leader(context.Context) (string, bool) {
	h.asked = true
	return h.leader, h.here
}

func (h *host) Add(ctx context.Context, n Newcomer) (uint64, map[uint64]string, error) {
	return h.add(ctx, n)
}

// node is a transport that admits newcomers and records what it receives.
type node struct {
	*transport.Transport
	address string
	got     chan *pb.Message
	denied  chan error // results of Admit, nil if it admitted the node
	log     logtest.Text
}

// start serves the cluster connections of a node.
func start(t testing.TB, ln net.Listener, id *Identity, h Host) *node {
	t.Helper()
	n := &node{address: ln.Addr().String(), got: make(chan *pb.Message, 1<<10), denied: make(chan error, 100)}
	n.Transport = transport.New(transport.Options{
		Cluster: id.cluster, Self: id.node, TLS: id.TLS(),
		Receive:     func(m *pb.Message) { n.got <- m },
		Unreachable: func(uint64) {},
		Stream:      func(_ uint64, _ string, nc net.Conn) { nc.Close() },
		Join: func(nc *tls.Conn) error {
			err := Admit(nc, id, h)
			n.denied <- err
			return err
		},
		Log: slog.New(slog.NewTextHandler(&n.log, nil)),
	})
	served := make(chan error, 1)
	go func() { served <- n.Serve(ln) }()
	t.Cleanup(func() {
		n.Close()
		if err := <-served; !errors.Is(err, transport.ErrClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
	return n
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

// connect waits until a node is connected to another.
func connect(t testing.TB, n *node, other uint64) {
	t.Helper()
	for end := time.After(patience); ; {
		if s, _ := n.Status(other); s.Connected {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-end:
			t.Fatalf("no connection to node %d\n%s", other, &n.log)
		}
	}
}

// greet sends a message from a node to another one that it is connected to, and checks its arrival.
func greet(t testing.TB, from *node, self, other uint64, to *node) {
	t.Helper()
	from.Send([]*pb.Message{{Type: pb.MsgHeartbeat.Enum(), From: &self, To: &other}})
	select {
	case m := <-to.got:
		if m.GetFrom() != self {
			t.Errorf("got %v", m)
		}
	case <-time.After(patience):
		t.Fatalf("node %d got nothing from node %d\n%s", other, self, &from.log)
	}
}

// asking returns a request with this token.
func asking(t testing.TB, token string) *request {
	t.Helper()
	key, _, err := authority.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	return &request{token: token, address: "n2.example:7000", csr: csr, clock: time.Now().UnixNano()}
}

// read returns the contents of a token without checking its expiry.
func read(t testing.TB, token string) Token {
	t.Helper()
	said, _, err := split(token)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := readToken(said)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// altered returns the token with another MAC.
func altered(token string) string {
	first := token[:len(token)-10] // ends at a character whose bits all count
	if strings.HasSuffix(first, "A") {
		return first[:len(first)-1] + "B" + token[len(first):]
	}
	return first[:len(first)-1] + "A" + token[len(first):]
}
