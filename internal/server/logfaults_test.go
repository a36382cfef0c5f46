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

	"fiveways/internal/broker/shard"
	"fiveways/internal/config"
	"fiveways/internal/storage/faultlog"
	"fiveways/internal/storage/store"
)

// faultyNode is a node on a log with faults, with a client of each protocol that is there before
// the faults are.
type faultyNode struct {
	t    *testing.T
	s    *Server
	log  *faultlog.Log
	amqp *amqp091.Channel
	sql  *pgx.Conn
	rdb  *redis.Client
	etcd *clientv3.Client
	http string
}

func startFaulty(t *testing.T, dir string) *faultyNode {
	t.Helper()
	n := &faultyNode{t: t}
	cfg := config.Default()
	cfg.Data, cfg.DiskFreeLimit, cfg.Shards = dir, 0, 2
	cfg.AMQP, cfg.SQL, cfg.Redis, cfg.Etcd, cfg.HTTP = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	cfg.Metrics = config.Off
	s, err := startOn(func(st *store.Store) shard.Log {
		n.log = faultlog.New(st)
		return n.log
	}, cfg, "test", slog.New(slog.DiscardHandler))
	n.check(err)
	n.s = s
	n.connect(s.Addrs())
	return n
}

// connect makes the clients, each with a connection that works.
func (n *faultyNode) connect(at map[string]string) {
	t := n.t
	t.Helper()
	conn, err := amqp091.Dial("amqp://guest:guest@" + at["amqp"])
	n.check(err)
	t.Cleanup(func() { _ = conn.Close() })
	n.amqp, err = conn.Channel()
	n.check(err)
	n.sql, err = pgx.Connect(t.Context(), "postgres://guest:guest@"+at["sql"]+"/fiveways?sslmode=disable")
	n.check(err)
	n.rdb = redis.NewClient(&redis.Options{Addr: at["redis"], MaxRetries: -1, ReadTimeout: time.Minute, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = n.rdb.Close() })
	n.check(n.rdb.Ping(t.Context()).Err())
	n.etcd, err = clientv3.New(clientv3.Config{Endpoints: []string{at["etcd"]}, Logger: zap.NewNop()})
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

// queue makes a durable queue.
func (n *faultyNode) queue(name string) {
	n.t.Helper()
	_, err := n.amqp.QueueDeclare(name, true, false, false, false, nil)
	n.check(err)
}

// messages is how many a queue holds; -1: there is no such queue.
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

func (n *faultyNode) key(name string) int {
	n.t.Helper()
	got, err := n.etcd.Get(n.t.Context(), name)
	n.check(err)
	return int(got.Count)
}

// running is how many tasks of the semaphore run.
func (n *faultyNode) running() int {
	n.t.Helper()
	got, err := n.rdb.Do(n.t.Context(), "SEM.INFO", "crowd").Result()
	n.check(err)
	return int(got.(map[any]any)["acquired"].(int64))
}

// post sends a request and answers with the status, and what is wrong.
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

var persistent = amqp091.Publishing{DeliveryMode: amqp091.Persistent, Body: []byte("a")}

// change is something that a client is told to be done. It is made on a node with the durable queue
// q, the semaphore crowd, and what prepare makes.
type change struct {
	name    string
	prepare func(n *faultyNode)
	do      func(ctx context.Context, n *faultyNode) (string, error)
	done    string                  // what the client hears
	failed  string                  // what it hears when the log has failed
	state   func(n *faultyNode) int // what it changes,
	changed int                     // and to what
}

var changes = []change{
	{
		name:    "AMQP: a publish with confirm",
		prepare: func(n *faultyNode) { n.check(n.amqp.Confirm(false)) },
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			c, err := n.amqp.PublishWithDeferredConfirmWithContext(ctx, "", "q", false, false, persistent)
			if err != nil {
				return "", err
			}
			ok, err := c.WaitContext(ctx)
			return fmt.Sprint("ack ", ok), err
		},
		done: "ack true", failed: "ack false",
		state: func(n *faultyNode) int { return n.messages("q") }, changed: 1,
	},
	{
		name: "AMQP: a transaction",
		prepare: func(n *faultyNode) {
			n.check(n.amqp.Tx())
			n.check(n.amqp.PublishWithContext(n.t.Context(), "", "q", false, false, persistent))
		},
		do:     func(_ context.Context, n *faultyNode) (string, error) { return "", n.amqp.TxCommit() },
		failed: "Exception (541)",
		state:  func(n *faultyNode) int { return n.messages("q") }, changed: 1,
	},
	{
		name: "AMQP: a declaration",
		do: func(_ context.Context, n *faultyNode) (string, error) {
			_, err := n.amqp.QueueDeclare("new", true, false, false, false, nil)
			return "", err
		},
		failed: "Exception (541)",
		state:  func(n *faultyNode) int { return n.messages("new") }, changed: 0,
	},
	{
		name: "AMQP: a purge",
		prepare: func(n *faultyNode) {
			n.check(n.rdb.LPush(n.t.Context(), "q", "a", "b").Err())
		},
		do: func(_ context.Context, n *faultyNode) (string, error) {
			purged, err := n.amqp.QueuePurge("q", false)
			return fmt.Sprint(purged), err
		},
		done: "2", failed: "Exception (541)",
		state: func(n *faultyNode) int { return n.messages("q") }, changed: 0,
	},
	{
		name: "SQL: a post",
		prepare: func(n *faultyNode) { // the first one reserves numbers of iids, by an entry of its own
			_, err := n.sql.Exec(n.t.Context(), "select mbus4.post('q', 'a=>1')")
			n.check(err)
		},
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			_, err := n.sql.Exec(ctx, "select mbus4.post('q', 'a=>1')")
			return "", err
		},
		failed: "SQLSTATE 58030",
		state:  func(n *faultyNode) int { return n.messages("q") }, changed: 2,
	},
	{
		name: "SQL: a COMMIT",
		prepare: func(n *faultyNode) {
			for _, text := range []string{"begin", "select mbus4.post('q', 'a=>1')", "select mbus4.post('r', 'a=>1')"} {
				_, err := n.sql.Exec(n.t.Context(), text)
				n.check(err)
			}
		},
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			_, err := n.sql.Exec(ctx, "commit")
			return "", err
		},
		failed: "SQLSTATE 58030",
		state:  func(n *faultyNode) int { return n.messages("q") + n.messages("r") }, changed: 2,
	},
	{
		name: "SQL: a queue",
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			_, err := n.sql.Exec(ctx, "select mbus4.create_queue('new', 2)")
			return "", err
		},
		failed: "SQLSTATE 58030",
		state:  func(n *faultyNode) int { return n.messages("new") }, changed: 0,
	},
	{
		name: "Redis: an element of a list",
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			size, err := n.rdb.LPush(ctx, "q", "a").Result()
			return fmt.Sprint(size), err
		},
		done: "1", failed: "MISCONF",
		state: func(n *faultyNode) int { return n.messages("q") }, changed: 1,
	},
	{
		name: "Redis: a transaction over queues",
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			_, err := n.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.LPush(ctx, "q", "a")
				p.LPush(ctx, "r", "a")
				return nil
			})
			return "", err
		},
		failed: "MISCONF",
		state:  func(n *faultyNode) int { return n.messages("q") + n.messages("r") }, changed: 2,
	},
	{
		name: "Redis: a job",
		prepare: func(n *faultyNode) { // the first one makes the queue one of jobs, by an entry of its own
			n.check(n.rdb.Do(n.t.Context(), "JOB.ENQUEUE", "q", "payload").Err())
		},
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			return "", n.rdb.Do(ctx, "JOB.ENQUEUE", "q", "payload").Err()
		},
		failed: "MISCONF",
		state:  func(n *faultyNode) int { return n.messages("q") }, changed: 2,
	},
	{
		name:    "Redis: an element that is taken",
		prepare: func(n *faultyNode) { n.check(n.rdb.LPush(n.t.Context(), "q", "a").Err()) },
		do:      func(ctx context.Context, n *faultyNode) (string, error) { return n.rdb.RPop(ctx, "q").Result() },
		done:    "a", failed: "MISCONF",
		state: func(n *faultyNode) int { return n.messages("q") }, changed: 0,
	},
	{
		name: "Redis: a task of a semaphore",
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			return "", n.rdb.Do(ctx, "SEM.ENQUEUE", "crowd", "cat", 1).Err()
		},
		failed: "MISCONF",
		state:  func(n *faultyNode) int { return n.running() }, changed: 1,
	},
	{
		name: "etcd: a put of a key",
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			_, err := n.etcd.Put(ctx, "k", "v")
			return "", err
		},
		failed: "the log takes no more",
		state:  func(n *faultyNode) int { return n.key("k") }, changed: 1,
	},
	{
		name: "etcd: a put of a message",
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			_, err := n.etcd.Put(ctx, "/q/q/p/k", "v")
			return "", err
		},
		failed: "the log takes no more",
		state:  func(n *faultyNode) int { return n.messages("q") }, changed: 1,
	},
	{
		name: "etcd: a transaction over a message and a key",
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			_, err := n.etcd.Txn(ctx).Then(clientv3.OpPut("/q/q/p/k", "v"), clientv3.OpPut("k", "v")).Commit()
			return "", err
		},
		failed: "the log takes no more",
		state:  func(n *faultyNode) int { return n.messages("q") + n.key("k") }, changed: 2,
	},
	{
		name: "HTTP: a message",
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			return n.post(ctx, "POST", "/api/queues/%2F/q/messages?raw=true", "a")
		},
		done: "201 ", failed: "503 ",
		state: func(n *faultyNode) int { return n.messages("q") }, changed: 1,
	},
	{
		name: "HTTP: a queue",
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			return n.post(ctx, "PUT", "/api/queues/%2F/new", `{"durable":true}`)
		},
		done: "201 ", failed: "503 ",
		state: func(n *faultyNode) int { return n.messages("new") }, changed: 0,
	},
	{
		name: "HTTP: a task of a semaphore",
		do: func(ctx context.Context, n *faultyNode) (string, error) {
			return n.post(ctx, "POST", "/api/semaphores/%2F/crowd/tasks", `{"tasks":[{"task":"cat","priority":1}]}`)
		},
		done: "200 ", failed: "503 ",
		state: func(n *faultyNode) int { return n.running() }, changed: 1,
	},
}

// Every protocol waits for a slow log, and reports one that has failed; what it confirmed is there
// at the next start, what was rejected is not, and what was unknown is there completely or not at
// all.
func TestLogFaults(t *testing.T) {
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			for _, f := range []struct {
				name    string
				inject  func(*faultlog.Log)
				failed  bool
				changed bool
			}{
				{"slow", func(*faultlog.Log) {}, false, true},
				{"refused", func(l *faultlog.Log) { l.Fail(0, faultlog.Refused) }, true, false},
				{"unknown", func(l *faultlog.Log) { l.Fail(0, faultlog.Unknown) }, true, true},
			} {
				t.Run(f.name, func(t *testing.T) {
					dir := t.TempDir()
					before := c.underFault(t, dir, f.inject, f.failed)
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
func (c *change) underFault(t *testing.T, dir string, inject func(*faultlog.Log), fails bool) (before int) {
	n := startFaulty(t, dir)
	n.queue("q")
	n.queue("r")
	n.check(n.rdb.Do(t.Context(), "SEM.CREATE", "crowd").Err())
	if c.prepare != nil {
		c.prepare(n)
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
	if want := map[bool]string{false: c.done, true: c.failed}[fails]; !strings.Contains(said, want) || want == "" && said != "" {
		t.Errorf("the client hears %q, want %q", said, cmp.Or(want, "no error"))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := n.s.Drain(ctx); err != nil && !fails && !errors.Is(err, context.Canceled) {
		t.Errorf("the stop: %v", err)
	}
	return before
}
