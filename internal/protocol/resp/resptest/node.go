package resptest

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/logtest"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Patience is how long a test waits for an expected event.
const Patience = 20 * time.Second

// Server is the server under test: resp.Server.
type Server interface {
	Serve(ln net.Listener) error
	Drain(ctx context.Context) error
}

// Node is a broker with a server of the protocol in front.
type Node struct {
	T          testing.TB
	Broker     *broker.Broker
	Semaphores *semaphores.Manager
	Addr       string // the server's address; "" in a bubble
	Log        logtest.Text

	open func() (net.Conn, error) // opens a connection
}

// Logger returns a logger that writes to the node's log.
func (n *Node) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(&n.Log, nil)) }

// Start starts a broker on files in memory, and the server that serve creates for it. The end of
// the test stops both.
func Start(t testing.TB, engine broker.Options, serve func(n *Node) Server) *Node {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := start(t, engine, serve, ln)
	n.Addr = ln.Addr().String()
	n.open = func() (net.Conn, error) { return net.Dial("tcp", n.Addr) }
	return n
}

// StartInBubble is like Start in a bubble of testing/synctest, with connections in memory.
func StartInBubble(t testing.TB, engine broker.Options, serve func(n *Node) Server) *Node {
	t.Helper()
	ln := protocoltest.NewPipes()
	n := start(t, engine, serve, ln)
	n.open = func() (net.Conn, error) { return ln.Dial(t.Context()) }
	return n
}

func start(t testing.TB, engine broker.Options, serve func(n *Node) Server, ln net.Listener) *Node {
	t.Helper()
	n := &Node{T: t}
	n.Semaphores = semaphores.New(semaphores.Options{Logger: n.Logger()})
	engine.Logger = n.Logger()
	engine.StateMachines = protocoltest.Machines(n.Semaphores, nil)
	n.Broker = enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { *o = engine })
	jobs.Resume(n.Broker)
	if err := n.Semaphores.Start(n.Broker); err != nil {
		t.Fatal(err)
	}
	server := serve(n)
	go server.Serve(ln) //nolint:errcheck // Drain ends it
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		if err := server.Drain(ctx); err != nil {
			t.Error(err)
		}
		n.Semaphores.Stop()
		enginetest.Close(t, n.Broker)
	})
	return n
}

// UntilBlocked polls through c until the given number of clients wait for messages or tasks.
func (n *Node) UntilBlocked(c *Client, want int) {
	n.T.Helper()
	for range 100_000 {
		if strings.Contains(c.Do("INFO", "clients"), fmt.Sprintf("blocked_clients:%d\\r", want)) {
			return
		}
	}
	n.T.Fatalf("there are never %d clients that wait", want)
}
