package cluster

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fiveways.dev/fiveways/test/clustertest"
)

// pinger connects to a node with the Redis protocol.
type pinger struct {
	net.Conn
	r *bufio.Reader
}

func newPinger(t *testing.T, addr string) *pinger {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	must(t, err)
	t.Cleanup(func() { _ = nc.Close() })
	must(t, nc.SetDeadline(time.Now().Add(clustertest.Patience)))
	return &pinger{nc, bufio.NewReader(nc)}
}

// ping returns the answer of the broker.
func (p *pinger) ping() (string, error) {
	if _, err := io.WriteString(p, "PING\r\n"); err != nil {
		return "", err
	}
	return p.r.ReadString('\n')
}

// TestClientsWaitWhileLeaderStops stops a leader that a client with an open transaction holds up. A
// client that connects to another node meanwhile is served by the next leader, without an error.
func TestClientsWaitWhileLeaderStops(t *testing.T) {
	t.Parallel()
	c := clustertest.Start(t, "--redis", "127.0.0.1:0", "--sql", "127.0.0.1:0", "--drain-timeout", "1h")
	old := c.Leader()
	n := c.Nodes[old]
	db, err := pgx.Connect(t.Context(), "postgres://guest@"+n.SQLAddr()+"/fiveways?sslmode=disable")
	must(t, err)
	t.Cleanup(func() { _ = db.Close(t.Context()) })
	_, err = db.Exec(t.Context(), "begin")
	must(t, err)
	idle := newPinger(t, n.RedisAddr())
	_, err = idle.ping()
	must(t, err)

	stopped := make(chan error, 1)
	go func() { stopped <- n.Stop() }()
	if said, err := io.ReadAll(idle.r); len(said) > 0 || err != nil {
		t.Errorf("an idle client hears %q, %v", said, err)
	}
	answer, err := newPinger(t, c.Nodes[(old+1)%3].RedisAddr()).ping()
	if answer != "+PONG\r\n" || err != nil {
		t.Errorf("a new client of another node hears %q, %v", answer, err)
	}
	must(t, <-stopped)
	n.Broker = nil
	if c.Leader() == old {
		t.Error("no other node leads")
	}
}
