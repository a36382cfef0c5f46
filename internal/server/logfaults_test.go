package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/storage/faultlog"
	"fiveways.dev/fiveways/internal/storage/store"
)

// faultyNode is a node whose log can be made to fail, with a client of each protocol that is
// connected before the faults.
type faultyNode struct {
	t     *testing.T
	s     *Server
	log   *faultlog.Log
	amqp  *amqp091.Channel
	ended chan *amqp091.Error // receives why its connection ends
	sql   *pgx.Conn
	rdb   *redis.Client
	etcd  *clientv3.Client
	http  string
	note  string           // stored by prepare for do
	lease clientv3.LeaseID // the same
}

func startFaulty(t *testing.T, dir string) *faultyNode {
	t.Helper()
	n := &faultyNode{t: t}
	cfg := config.Default()
	cfg.Data, cfg.DiskFreeLimit, cfg.Shards = dir, 0, 2
	cfg.AMQP, cfg.SQL, cfg.Redis, cfg.Etcd, cfg.HTTP = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	cfg.Metrics = config.Off
	s, err := startOn(func(st *store.Store) shardlog.Log {
		n.log = faultlog.New(st)
		return n.log
	}, func() bool { return n.log.AwaitLead() }, cfg, "test", slog.New(slog.DiscardHandler))
	n.check(err)
	n.s = s
	n.connect(s.Addrs())
	return n
}

// connect creates the clients, each with a working connection.
func (n *faultyNode) connect(at map[string]string) {
	t := n.t
	t.Helper()
	conn, err := amqp091.Dial("amqp://guest:guest@" + at["amqp"])
	n.check(err)
	t.Cleanup(func() { _ = conn.Close() })
	n.ended = conn.NotifyClose(make(chan *amqp091.Error, 1))
	n.amqp, err = conn.Channel()
	n.check(err)
	n.sql, err = pgx.Connect(t.Context(), "postgres://guest:guest@"+at["sql"]+"/fiveways?sslmode=disable")
	n.check(err)
	n.rdb = redis.NewClient(&redis.Options{Addr: at["redis"], MaxRetries: -1, ReadTimeout: time.Minute, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = n.rdb.Close() })
	n.check(n.rdb.Ping(t.Context()).Err())
	n.etcd, err = clientv3.New(clientv3.Config{Endpoints: []string{at["etcd"]}, Logger: zap.NewNop(), MaxUnaryRetries: 1})
	n.check(err)
	t.Cleanup(func() { _ = n.etcd.Close() })
	_, err = n.etcd.Get(t.Context(), "k")
	n.check(err)
	n.http = "http://" + at["http"]
}

func (n *faultyNode) check(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

// queue declares a durable queue.
func (n *faultyNode) queue(name string) {
	n.t.Helper()
	_, err := n.amqp.QueueDeclare(name, true, false, false, false, nil)
	n.check(err)
}

// messages returns how many messages a queue holds, or -1 if it does not exist.
func (n *faultyNode) messages(name string) int {
	said, err := n.post(n.t.Context(), "GET", "/api/queues/%2F/"+name, "")
	n.check(err)
	status, page, _ := strings.Cut(said, " ")
	if status == "404" {
		return -1
	}
	var q struct{ Messages int }
	n.check(json.Unmarshal([]byte(page), &q))
	return q.Messages
}

// post sends a request and returns the status and the reason.
func (n *faultyNode) post(ctx context.Context, method, path, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, n.http+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.SetBasicAuth("guest", "guest")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return fmt.Sprint(res.StatusCode, " ", string(text)), err
}

// Every protocol waits for a slow log and reports a failed one. After a restart, confirmed changes
// are present, rejected ones are not, and those with an unknown outcome are present either
// completely or not at all.
func TestLogFaults(t *testing.T) {
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range []struct {
				name    string
				inject  func(*faultlog.Log)
				hears   string
				changed bool
			}{
				{"slow", func(*faultlog.Log) {}, c.done, true},
				{"refused", func(l *faultlog.Log) { l.Fail(0, faultlog.Refused) }, c.failed, false},
				{"unknown", func(l *faultlog.Log) { l.Fail(0, faultlog.Unknown) }, c.failed, true},
				{"leadership lost", func(l *faultlog.Log) { l.Lose(0, store.ErrLost) }, c.lost(), true},
			} {
				t.Run(f.name, func(t *testing.T) {
					dir := t.TempDir()
					before := c.underFault(t, dir, f.inject, f.hears, f.name != "slow")
					n := startFaulty(t, dir)
					want := before
					if f.changed {
						want = c.changed
					}
					if got := c.state(n); got != want {
						t.Errorf("after a restart: %d, want %d", got, want)
					}
					drainPolicyNode(t, n.s)
				})
			}
		})
	}
}

// underFault makes the change while the log is held, injects a fault and releases the log. It
// returns the state before the change.
func (c *change) underFault(t *testing.T, dir string, inject func(*faultlog.Log), hears string, fails bool) (before int) {
	n := startFaulty(t, dir)
	n.queue("q")
	n.queue("r")
	n.check(n.rdb.Do(t.Context(), "SEM.CREATE", "crowd").Err())
	if c.prepare != nil {
		_, err := c.prepare(t.Context(), n)
		n.check(err)
	}
	before = c.state(n)
	n.log.Hold()
	answer := make(chan string, 1)
	go func() {
		said, err := c.do(t.Context(), n)
		if err != nil {
			said = err.Error()
		}
		answer <- said
	}()
	select {
	case said := <-answer:
		t.Errorf("answered before the log has it: %q", said)
		answer <- said
	case <-n.log.Waits():
	}
	inject(n.log)
	n.log.Release()
	said := <-answer
	if !strings.Contains(said, hears) || hears == "" && said != "" {
		t.Errorf("the client hears %q, want %q", said, cmp.Or(hears, "no error"))
	}
	n.end(fails)
	return before
}

// producers are changes that every protocol can repeat, with their node.
var producers = []change{
	{name: "AMQP", prepare: changes[0].prepare, do: publish, done: "ack true", failed: "ack false", state: messages("q")},
	{name: "SQL", prepare: sqlDo("select mbus4.post('q', 'a=>1')"), do: sqlDo("select mbus4.post('q', 'a=>1')"), done: "SELECT 1", failed: sqlFailed, state: messages("q")},
	{name: "Redis", do: redisDo("LPUSH", "q", "a"), failed: redisFailed, state: messages("q")},
	{name: "etcd, a message", do: etcdPut("/q/q/p/k"), failed: etcdFailed, state: messages("q")},
	{name: "HTTP", do: httpDo("POST", "/api/queues/%2F/q/messages?raw=true", "a"), done: "201 ", failed: httpFailed, state: messages("q")},
}

// Leadership is lost in the middle of a sequence of changes. Those before are confirmed and
// present, the one in flight may be, and none after is. No client is told that one of the latter
// succeeded.
func TestLeadershipLostInTheMiddle(t *testing.T) {
	const before = 3
	for _, c := range producers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			n := startFaulty(t, dir)
			n.queue("q")
			if c.prepare != nil {
				_, err := c.prepare(t.Context(), n)
				n.check(err)
			}
			first := c.state(n)
			n.log.Lose(before, store.ErrLost)
			for i := range before + 3 {
				ctx := t.Context()
				if i > before { // clients of etcd's API would wait for a leader
					limited, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
					defer cancel()
					ctx = limited
				}
				said, err := c.do(ctx, n)
				switch {
				case i < before && (err != nil || !strings.Contains(said, c.done)):
					t.Errorf("of change %d the client hears %q, %v; want %q", i, said, err, c.done)
				case i == before && (err == nil || !strings.Contains(err.Error(), c.lost())):
					t.Errorf("of change %d the client hears %q, %v; want %q", i, said, err, c.lost())
				case i > before && err == nil: // its connection is closed, and so are new ones
					t.Errorf("of change %d the client hears %q", i, said)
				}
			}
			n.end(true)
			again := startFaulty(t, dir)
			if got := c.state(again) - first; got != before+1 {
				t.Errorf("%d changes are there after a restart, want %d", got, before+1)
			}
			drainPolicyNode(t, again.s)
		})
	}
}

// end stops a node whose log may have failed.
func (n *faultyNode) end(failed bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := n.s.Drain(ctx); err != nil && !failed && !errors.Is(err, context.Canceled) {
		n.t.Errorf("the stop: %v", err)
	}
}

// Consumers after a failure of the log: deliveries continue from memory and from what can be read
// (docs/durability.md), and operations that need the log fail.
func TestConsumersOfFailedLog(t *testing.T) {
	n := startFaulty(t, t.TempDir())
	n.queue("q")
	n.queue("r")
	_, err := all(
		redisDo("LPUSH", "q", "c", "b", "a"), redisDo("JOB.ENQUEUE", "jobs", "a"), etcdPut("/q/keyed/p/k"), holdOf("keyed"),
		sqlDo("select mbus4.create_queue('posts', 2)"), sqlDo("select mbus4.post('posts', 'a=>1')"),
	)(t.Context(), n)
	n.check(err)
	n.check(n.amqp.Qos(1, 0, false))
	deliveries, err := n.amqp.Consume("q", "", false, false, false, false, nil)
	n.check(err)
	d := <-deliveries
	waits := make(chan string, 1)
	go func() {
		said, err := redisDo("BRPOP", "r", 0)(t.Context(), n)
		waits <- fmt.Sprint(said, err)
	}()
	n.log.Fail(0, faultlog.Refused)
	for _, c := range []struct {
		name  string
		do    step
		hears string
	}{
		{"a change", redisDo("LPUSH", "other", "a"), redisFailed},
		{"AMQP: the next deliveries", func(context.Context, *faultyNode) (string, error) {
			said := string(d.Body)
			for range 2 {
				n.check(d.Ack(false))
				d = <-deliveries
				said += string(d.Body)
			}
			return said, d.Ack(false)
		}, "cba"},
		{"AMQP: what was published without confirm", func(context.Context, *faultyNode) (string, error) {
			n.check(n.amqp.Publish("", "q", false, false, persistent))
			return string((<-deliveries).Body), nil
		}, "a"},
		{"AMQP: basic.get", func(context.Context, *faultyNode) (string, error) {
			d, ok, err := n.amqp.Get("posts", false)
			n.check(err)
			n.check(d.Nack(false, true))
			q, err := n.amqp.QueueDeclarePassive("posts", true, false, false, false, nil) // a nack has no answer
			return fmt.Sprint(ok, q.Messages), err
		}, "true 1"},
		{"SQL: peek", sqlDo("select * from mbus4.peek('posts.1')"), "SELECT 1"},
		{"SQL: consume", sqlDo("select * from mbus4.consume('posts')"), sqlFailed},
		{"Redis: a read of a list", redisDo("LRANGE", "q", 0, -1), redisFailed},
		{"Redis: JOB.TAKE", redisDo("JOB.TAKE", "jobs"), redisFailed},
		{"Redis: LPUSH to a list that is waited for", redisDo("LPUSH", "r", "a"), redisFailed},
		{"Redis: BRPOP that waited", func(context.Context, *faultyNode) (string, error) { return <-waits, nil }, redisFailed},
		{"etcd: a read of a key", func(context.Context, *faultyNode) (string, error) { return fmt.Sprint(keys("none")(n)), nil }, "0"},
		{"etcd: a new consumer", holdOf("q"), etcdFailed},
		{"etcd: an acknowledgement", etcdDo(func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Delete(ctx, n.note)
			return err
		}), etcdFailed},
		{"HTTP: browsing", httpDo("GET", "/api/queues/%2F/posts/messages", ""), "200 "},
	} {
		said, err := c.do(t.Context(), n)
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, c.hears) {
			t.Errorf("%s: the client hears %q, want %q", c.name, said, c.hears)
		}
	}
	n.end(true)
}
