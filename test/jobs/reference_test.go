package jobs

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/internal/bench/jobs/lua"
	"fiveways.dev/fiveways/test/redisd"
)

// defaultLock is the default lock time of a take in ms.
const defaultLock = 3_600_000

// reference is the reference implementation: the scripts on a real Redis.
type reference struct {
	t       *testing.T
	redis   *redis.Client
	scripts map[string]*redis.Script
}

func newReference(t *testing.T) *reference {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: redisd.Start(t, redisd.Options{})})
	t.Cleanup(func() { client.Close() })
	return &reference{t: t, redis: client, scripts: map[string]*redis.Script{
		"enqueue": redis.NewScript(lua.Enqueue), "take": redis.NewScript(lua.Take), "report": redis.NewScript(lua.Report),
		"extend": redis.NewScript(lua.Extend), "cancel": redis.NewScript(lua.Cancel), "status": redis.NewScript(lua.Status),
	}}
}

func (r *reference) run(script, queue string, args ...any) any {
	r.t.Helper()
	got, err := r.scripts[script].Run(context.Background(), r.redis, []string{lua.Key(queue)}, args...).Result()
	if err != nil && err != redis.Nil {
		r.t.Fatalf("%s of the reference: %v", script, err)
	}
	return got
}

func (r *reference) enqueue(now int64, s step) string {
	flags := ""
	for _, f := range []struct {
		set  bool
		flag string
	}{{s.update, "u"}, {s.requeue, "q"}, {s.reset, "b"}} {
		if f.set {
			flags += f.flag
		}
	}
	return r.run("enqueue", s.queue, now, s.mid, s.body, s.backoff, s.lock, flags).(string)
}

func (r *reference) take(now int64, s step) (jobs []taken) {
	lock := s.lock
	if lock == 0 {
		lock = defaultLock
	}
	for _, job := range r.run("take", s.queue, now, s.count, lock).([]any) {
		j := job.([]any)
		jobs = append(jobs, taken{mid: j[0].(string), body: j[1].(string), attempt: j[2].(int64), token: fmt.Sprint(j[3]), lock: j[4].(int64), first: j[5].(int64)})
	}
	return jobs
}

func (r *reference) report(now int64, s step, token string) bool {
	if s.verb == "extend" {
		return r.run("extend", s.queue, now, s.mid, token, s.ms) == int64(1)
	}
	return r.run("report", s.queue, now, s.mid, token, s.verb, s.backoff) == int64(1)
}

func (r *reference) cancel(now int64, s step) bool {
	return r.run("cancel", s.queue, now, s.mid) == int64(1)
}

func (r *reference) status(now int64, s step) string {
	got, _ := r.run("status", s.queue, now, s.mid).([]any)
	if got == nil {
		return "none"
	}
	return fmt.Sprintf("%s attempts=%d age=%d backoff=%d lock=%d", got[0], got[1], now-got[2].(int64), got[3], got[4])
}
