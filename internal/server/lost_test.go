package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/storage/store"
)

// When leadership is lost, waiting, idle and new connections end in the way of their protocols.
func TestLeadershipLostEndsSessions(t *testing.T) {
	n := startFaulty(t, t.TempDir())
	for _, q := range []string{"q", "r"} {
		n.queue(q)
	}
	_, err := all(
		sqlDo("select mbus4.create_queue('posts', 2)"), sqlDo("select mbus4.post('posts', 'a=>1')"),
		sqlDo("begin"), sqlDo("select * from mbus4.consume('posts')"), redisDo("LPUSH", "q", "a", "b"),
		redisDo("SEM.CREATE", "crowd"), redisDo("SEM.ENQUEUE", "crowd", "1", 1, "2", 1),
	)(t.Context(), n)
	n.check(err)
	n.check(n.amqp.Qos(1, 0, false))
	deliveries, err := n.amqp.Consume("q", "", false, false, false, false, nil)
	n.check(err)
	if d := <-deliveries; string(d.Body) != "a" {
		t.Fatalf("delivered %q", d.Body)
	}
	at := n.s.Addrs()
	sqlURL := "postgres://guest:guest@" + at["sql"] + "/fiveways?sslmode=disable"
	idle, err := pgx.Connect(t.Context(), sqlURL)
	n.check(err)
	taking, err := pgx.Connect(t.Context(), sqlURL)
	n.check(err)
	subscribed := redis.NewClient(&redis.Options{Addr: at["redis"], MaxRetries: -1}).Subscribe(t.Context(), "news")
	defer func() { _ = subscribed.Close() }()
	_, err = subscribed.Receive(t.Context())
	n.check(err)
	keys, messages := n.watch("k"), n.watch("/q/r/c/w/")
	events := n.followed()

	waits := map[string]chan error{}
	wait := func(name string, fn func() error) {
		ended := make(chan error, 1)
		waits[name] = ended
		go func() { ended <- fn() }()
	}
	wait("57P01, an idle connection", func() error {
		_, err := idle.PgConn().ReceiveMessage(t.Context())
		return err
	})
	wait("57P01, a take of what another transaction has", func() error {
		_, err := taking.Exec(t.Context(), "select * from mbus4.take('posts.1')")
		return err
	})
	wait("57P01, that transaction", func() error {
		_, err := n.sql.PgConn().ReceiveMessage(t.Context())
		return err
	})
	for _, command := range []string{"PING", "BRPOP r 0", "XREAD BLOCK 0 STREAMS log $", "JOB.TAKE jobs BLOCK 0"} {
		nc := n.ask(at["redis"], command+"\r\n")
		if command == "PING" {
			_, err := io.ReadFull(nc, make([]byte, len("+PONG\r\n")))
			n.check(err)
		}
		wait("EOF, "+command, func() error { return silence(nc) })
	}
	wait("EOF, a subscription", func() error {
		_, err := subscribed.Receive(t.Context())
		return err
	})
	// The error is "leader changed", or EOF if an answer was being written, because nothing may
	// follow the loss.
	wait("Unavailable, a watch of a key", func() error { _, err := keys.Recv(); return err })
	wait("Unavailable, a consumer", func() error { _, err := messages.Recv(); return err })
	wait("EOF, events over HTTP", func() error {
		_, err := io.Copy(io.Discard, events)
		return endOf(err)
	})
	preface := n.ask(at["etcd"], "PRI * HTTP/2.0\r\n")
	wait("EOF, half a preface", func() error { return silence(preface) })

	n.log.Lose(0, store.ErrLost)
	if err := n.rdb.Do(t.Context(), "LPUSH", "other", "a").Err(); err == nil {
		t.Error("a change after the loss is answered")
	}
	if why := <-n.ended; why == nil || why.Code != 320 {
		t.Errorf("AMQP: a consumer hears %v", why)
	}
	for d := range deliveries {
		t.Errorf("AMQP: a delivery comes: %q", d.Body)
	}
	for name, ended := range waits {
		want, _, _ := strings.Cut(name, ",")
		if err := <-ended; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the client hears %v", name, err)
		}
	}
	for protocol, addr := range at {
		if err := silence(n.ask(addr, "PING\r\n")); err != io.EOF {
			t.Errorf("%s: a new connection: %v", protocol, err)
		}
	}
	n.end(true)
}

// ask opens a connection and sends text.
func (n *faultyNode) ask(addr, text string) net.Conn {
	n.t.Helper()
	nc, err := net.Dial("tcp", addr)
	n.check(err)
	n.t.Cleanup(func() { _ = nc.Close() })
	if _, err = io.WriteString(nc, text); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
		n.check(err)
	}
	return nc
}

// silence reads to the end of a connection. It returns io.EOF if nothing came before the end.
func silence(nc net.Conn) error {
	said, err := io.ReadAll(nc)
	if len(said) > 0 {
		return fmt.Errorf("it says %q", said)
	}
	return endOf(err)
}

// endOf returns io.EOF if reading reached the end, which unread data may turn into a reset.
func endOf(err error) error {
	if err == nil || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

// watch watches all keys with a prefix, without retries.
func (n *faultyNode) watch(prefix string) pb.Watch_WatchClient {
	n.t.Helper()
	w, err := pb.NewWatchClient(n.etcd.ActiveConnection()).Watch(n.t.Context())
	n.check(err)
	end := []byte(prefix)
	end[len(end)-1]++
	n.check(w.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{
		CreateRequest: &pb.WatchCreateRequest{Key: []byte(prefix), RangeEnd: end},
	}}))
	got, err := w.Recv()
	n.check(err)
	if !got.Created {
		n.t.Fatalf("the watch of %q: %v", prefix, got)
	}
	return w
}

// followed returns a stream of the events of semaphores.
func (n *faultyNode) followed() io.Reader {
	n.t.Helper()
	req, err := http.NewRequestWithContext(n.t.Context(), "GET", n.http+"/api/semaphore-events/%2F", nil)
	n.check(err)
	req.SetBasicAuth("guest", "guest")
	res, err := http.DefaultClient.Do(req)
	n.check(err)
	n.t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		n.t.Fatal(res.Status)
	}
	return bufio.NewReader(res.Body)
}
