package jobs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/test/redis/duel"
)

// node is a broker in this process, accessed by a client of the Redis protocol. The script moves
// its clock.
type node struct {
	t     *testing.T
	now   atomic.Int64
	redis *redis.Client
	port  string
}

// newNode starts a broker with files in memory. version is that of the protocol.
func newNode(t *testing.T, version int) *node {
	t.Helper()
	n := &node{t: t}
	n.now.Store(start)
	addr := duel.Broker(t, func(o *broker.Options) { o.Now = func() time.Time { return time.UnixMilli(n.now.Load()) } })
	_, n.port, _ = net.SplitHostPort(addr)
	n.redis = redis.NewClient(&redis.Options{Addr: addr, Protocol: version, MaxRetries: -1})
	t.Cleanup(func() { n.redis.Close() })
	return n
}

// do sends a command at a time. refused is the broker's error reply, or "" if there was none.
func (n *node) do(now int64, words ...any) (reply any, refused string) {
	n.t.Helper()
	n.now.Store(now)
	reply, err := n.redis.Do(context.Background(), words...).Result()
	var told redis.Error
	switch {
	case err == nil || errors.Is(err, redis.Nil):
		return reply, ""
	case !errors.As(err, &told):
		n.t.Fatalf("%v: %v", words, err)
	}
	code, _, _ := strings.Cut(told.Error(), " ")
	return nil, code
}

// must is do for commands that are never refused.
func (n *node) must(now int64, words ...any) any {
	n.t.Helper()
	reply, refused := n.do(now, words...)
	if refused != "" {
		n.t.Fatalf("%v: %s", words, refused)
	}
	return reply
}

// dict converts a map reply, which is a list of names and values in RESP2.
func dict(reply any) map[string]any {
	m := map[string]any{}
	switch r := reply.(type) {
	case map[any]any:
		for name, value := range r {
			m[name.(string)] = value
		}
	case []any:
		for i := 0; i < len(r); i += 2 {
			m[r[i].(string)] = r[i+1]
		}
	}
	return m
}

func (n *node) enqueue(now int64, s step) string {
	words := []any{"JOB.ENQUEUE", s.queue, s.body, "ID", s.mid}
	if s.backoff > 0 {
		words = append(words, "BACKOFF", s.backoff)
	}
	if s.lock > 0 {
		words = append(words, "LOCK", s.lock)
	}
	for _, f := range []struct {
		set  bool
		name string
	}{{s.update, "UPDATE"}, {s.requeue, "REQUEUE"}, {s.reset, "RESETBACKOFF"}} {
		if f.set {
			words = append(words, f.name)
		}
	}
	reply, refused := n.do(now, words...)
	switch refused {
	case "":
		if mid := reply.([]any)[1]; mid != s.mid {
			n.t.Fatalf("%s: the id is %v", s, mid)
		}
		return reply.([]any)[0].(string)
	case "ALREADYQUEUED":
		return "already-queued"
	}
	return strings.ToLower(refused)
}

func (n *node) take(now int64, s step) (jobs []taken) {
	words := []any{"JOB.TAKE", s.queue, "COUNT", s.count}
	if s.lock > 0 {
		words = append(words, "LOCK", s.lock)
	}
	for _, job := range n.must(now, words...).([]any) {
		j := dict(job)
		jobs = append(jobs, taken{
			mid: j["mid"].(string), body: j["body"].(string), token: j["token"].(string),
			attempt: j["attempt"].(int64), lock: j["lock"].(int64), first: j["enqueued"].(int64),
		})
	}
	return jobs
}

func (n *node) report(now int64, s step, token string) bool {
	words := []any{"JOB." + s.verb, s.queue, s.mid, token}
	if s.verb == "extend" {
		words = append(words, s.ms)
	}
	if s.backoff > 0 {
		words = append(words, "BACKOFF", s.backoff)
	}
	reply, refused := n.do(now, words...)
	if reply != "OK" && refused != "STALE" {
		n.t.Fatalf("%s: %v %s", s, reply, refused)
	}
	return refused == ""
}

func (n *node) cancel(now int64, s step) bool {
	reply, refused := n.do(now, "JOB.CANCEL", s.queue, s.mid)
	if refused != "" && refused != "LOCKED" {
		n.t.Fatalf("%s: %s", s, refused)
	}
	return reply == int64(1)
}

func (n *node) status(now int64, s step) string {
	short := n.must(now, "JOB.STATUS", s.queue, s.mid)
	reply := n.must(now, "JOB.STATUS", s.queue, s.mid, "DETAIL")
	if short == nil && reply == nil {
		return "none"
	}
	d := dict(reply)
	if d["status"] != short {
		n.t.Fatalf("%s: %v, in detail %v", s, short, d["status"])
	}
	return fmt.Sprintf("%s attempts=%d age=%d backoff=%d lock=%d", short, d["attempts"], now-d["enqueued"].(int64), d["backoff"], d["lock"])
}
