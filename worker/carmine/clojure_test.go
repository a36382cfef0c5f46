package carmine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/worker"
)

// clojure imitates a worker and a producer of one generation of Carmine, as far as the keys are
// concerned. It is written from the known layout.
type clojure struct {
	t      *testing.T
	client *redis.Client
	v      int // 2: first generation, 3: second, 4: with lock-tokens
}

func (c clojure) lua(text string, args ...any) any {
	c.t.Helper()
	got, err := c.client.Eval(context.Background(), commonForTests+text, keys(q), append([]any{c.v}, args...)...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		c.t.Fatal(err)
	}
	return got
}

// commonForTests is the common part of the scripts of the three generations. KEYS is as in the
// package's own scripts.
const commonForTests = `
local K = {}
for i, name in ipairs({'messages', 'messages_rq', 'lock_times', 'lock_times_rq', 'udts', 'locks', 'lock_tokens', 'backoffs', 'nattempts',
	'done', 'requeue', 'mids_ready', 'mid_circle', 'ndry_runs', 'isleep_a', 'isleep_b'}) do K[name] = KEYS[i] end
local call, v, mid = redis.call, tonumber(ARGV[1]), ARGV[2]
local t = call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local function state(mid)
	if call('HEXISTS', K.messages, mid) == 0 then return nil end
	local backoff = now < tonumber(call('HGET', K.backoffs, mid) or 0)
	local waits = call('SISMEMBER', K.requeue, mid) == 1 or v > 2 and call('HEXISTS', K.messages_rq, mid) == 1
	if call('SISMEMBER', K.done, mid) == 1 then return 'done', backoff, waits end
	if now < tonumber(call('HGET', K.locks, mid) or 0) then return 'locked', backoff, waits end
	return 'queued', backoff, waits
end
`

func (c clojure) enqueue(mid, content string) {
	c.t.Helper()
	c.lua(`
		if state(mid) then return end
		if call('EXISTS', K.mid_circle) == 0 then call('LPUSH', K.mid_circle, 'end-of-circle') end
		call('HSET', K.messages, mid, ARGV[3])
		if v == 2 then
			call('LPUSH', K.mid_circle, mid)
			return
		end
		call('HSETNX', K.udts, mid, now)
		call('LPUSH', K.mids_ready, mid)
		if not call('RPOPLPUSH', K.isleep_a, K.isleep_b) and not call('RPOPLPUSH', K.isleep_b, K.isleep_a) then call('LPUSH', K.isleep_a, '_') end`,
		mid, content)
}

// take visits one message and returns its id and content, or "" if it is not to be handled. The
// token is for generation 4.
func (c clojure) take(lock time.Duration) (mid, content, token string) {
	c.t.Helper()
	token = randomID()
	got, _ := c.lua(`
		local mid = v > 2 and call('RPOPLPUSH', K.mids_ready, K.mid_circle) or call('RPOPLPUSH', K.mid_circle, K.mid_circle)
		if not mid or mid == 'end-of-circle' then return end
		local base, backoff, waits = state(mid)
		if base == 'locked' or backoff then return end
		if not base and v > 2 then
			call('LTRIM', K.mid_circle, 1, -1)
			return
		end
		if base == 'done' then
			if v > 2 and waits then
				call('HSET', K.messages, mid, call('HGET', K.messages_rq, mid) or call('HGET', K.messages, mid))
				call('HSET', K.udts, mid, now)
				for _, k in ipairs({'messages_rq', 'lock_times_rq', 'nattempts'}) do call('HDEL', K[k], mid) end
				call('SREM', K.done, mid)
				call('SREM', K.requeue, mid)
				call('LPUSH', K.mids_ready, mid)
				return
			end
			for _, k in ipairs({'messages', 'locks', 'backoffs', 'nattempts'}) do call('HDEL', K[k], mid) end
			if v > 2 then for _, k in ipairs({'messages_rq', 'lock_times', 'lock_times_rq', 'udts'}) do call('HDEL', K[k], mid) end end
			call('SREM', K.done, mid)
			call('LTRIM', K.mid_circle, 1, -1)
			return
		end
		call('HSET', K.locks, mid, now + (v > 2 and tonumber(call('HGET', K.lock_times, mid) or false) or tonumber(ARGV[2])))
		if v > 3 then call('HSET', K.lock_tokens, mid, ARGV[3]) end
		call('HINCRBY', K.nattempts, mid, 1)
		return {mid, call('HGET', K.messages, mid)}`, lock.Milliseconds(), token).([]any)
	if got == nil {
		return "", "", ""
	}
	if len(got) < 2 {
		c.t.Fatalf("generation %d is given an id without content: %q", c.v, got)
	}
	return got[0].(string), got[1].(string), token
}

// finish reports success or a retry. Only generation 4 checks whether it still holds the lock.
func (c clojure) finish(mid, token string, done bool) bool {
	c.t.Helper()
	return c.lua(`
		if v > 3 and (call('HGET', K.lock_tokens, mid) ~= ARGV[3] or call('HEXISTS', K.locks, mid) == 0) then return 0 end
		if v == 2 and ARGV[4] == '1' and call('SREM', K.requeue, mid) == 1 then
			call('HDEL', K.nattempts, mid)
		elseif ARGV[4] == '1' then
			call('SADD', K.done, mid)
		end
		call('HDEL', K.locks, mid)
		if v > 3 then call('HDEL', K.lock_tokens, mid) end
		return 1`, mid, token, strconv.Itoa(flag(done))) == int64(1)
}

// TestBesideClojure lets Go and a generation of Carmine share a queue, both as producers and as
// workers. Every job is handled with success exactly once, since no lock expires, whichever side
// enqueued or retried it.
func TestBesideClojure(t *testing.T) {
	for _, c := range []struct{ generation, oldest int }{{2, 2}, {3, 2}, {3, 3}, {4, 2}, {4, 3}} {
		t.Run(fmt.Sprintf("generation %d oldest %d", c.generation, c.oldest), func(t *testing.T) {
			j, client := dial(t, Options{Oldest: c.oldest})
			theirs := clojure{t, client, c.generation}
			handled := map[string]int{}
			both(t, rand.New(rand.NewPCG(7, uint64(c.generation))), j, theirs, handled)
			for mid, n := range handled {
				if n != 1 {
					t.Errorf("%s was handled %d times", mid, n)
				}
			}
			if len(handled) != 120 {
				t.Errorf("%d jobs were handled", len(handled))
			}
			for range 400 { // clean up
				if mid, _, _ := theirs.take(time.Hour); mid != "" {
					t.Fatalf("%s is there once more", mid)
				}
				takeNone(t, j)
			}
			if left := client.HLen(t.Context(), key(q, "messages")).Val(); left != 0 {
				t.Errorf("%d messages are left", left)
			}
			if circle := client.LRange(t.Context(), key(q, "mid-circle"), 0, -1).Val(); c.generation > 2 && !slices.Equal(circle, []string{marker}) {
				t.Errorf("the circle is %q", circle)
			}
		})
	}
}

// The texts "ours" and "theirs" as frozen by Go and by Clojure.
const (
	frozenOurs   = "\x00>NPY\x00\x0d\x00\x00\x00\x04ours"
	frozenTheirs = "\x00>NPY\x00i\x06theirs"
)

// both works until 120 jobs are done. A third of the takes ends in a retry.
func both(t *testing.T, random *rand.Rand, j *Jobs, theirs clojure, handled map[string]int) {
	type taking struct {
		worker.Lease
		ours bool
	}
	var out []taking
	for made, idle := 0, 0; idle < 2000 && len(handled) < 120; idle++ {
		switch n := random.IntN(8); {
		case n == 0 && made < 120:
			enqueue(t, j, fmt.Sprint("m", made), "ours", worker.EnqueueOptions{})
			made++
		case n == 1 && made < 120:
			theirs.enqueue(fmt.Sprint("m", made), frozenTheirs)
			made++
		case n < 5:
			if mid, content, token := theirs.take(time.Hour); mid != "" {
				if content != frozenOurs && content != frozenTheirs {
					t.Fatalf("content %q", content)
				}
				out = append(out, taking{worker.Lease{MID: mid, Token: token}, false})
			}
		case n < 6:
			jobs, err := j.Take(t.Context(), worker.TakeOptions{Queues: []string{q}})
			ok(t, err)
			for _, job := range jobs {
				out = append(out, taking{job.Lease, true})
			}
		case len(out) > 0:
			i := random.IntN(len(out))
			x, again := out[i], random.IntN(3) == 0
			out = slices.Delete(out, i, i+1)
			switch {
			case !x.ours:
				if !theirs.finish(x.MID, x.Token, !again) {
					t.Fatal("their report is stale")
				}
			case again:
				ok(t, j.Retry(t.Context(), x.Lease, 0, ""))
			default:
				ok(t, j.Done(t.Context(), x.Lease, 0))
			}
			if !again {
				handled[x.MID]++
				idle = 0
			}
		}
	}
}

// TestLateReports checks reports after the lock has expired and another worker, of any version, has
// taken the job.
func TestLateReports(t *testing.T) {
	j, client := dial(t, Options{})
	for generation := range 5 {
		t.Run(fmt.Sprint("taken by generation ", generation), func(t *testing.T) {
			ok(t, j.Clear(t.Context(), q))
			enqueue(t, j, "m", "x", worker.EnqueueOptions{})
			late := take(t, j)
			pass(t, client, q, 2*worker.DefaultLock)
			theirs := clojure{t, client, generation}
			var token string
			if generation > 1 {
				var mid string
				for range 3 {
					if mid, _, token = theirs.take(time.Hour); mid != "" {
						break
					}
				}
				if mid != "m" {
					t.Fatalf("took %q", mid)
				}
			} else {
				take(t, j)
			}
			for what, err := range map[string]error{
				"done": j.Done(t.Context(), late.Lease, 0), "retry": j.Retry(t.Context(), late.Lease, 0, ""),
				"fail": j.Fail(t.Context(), late.Lease, "no"), "extend": j.Extend(t.Context(), late.Lease, time.Hour),
			} {
				if !errors.Is(err, worker.ErrStale) {
					t.Errorf("%s: %v", what, err)
				}
			}
			stateIs(t, j, "m", worker.Locked)
			if generation > 1 && !theirs.finish("m", token, true) {
				t.Error("their report is stale")
			}
		})
	}
	t.Run("ours while the newest is late", func(t *testing.T) {
		ok(t, j.Clear(t.Context(), q))
		enqueue(t, j, "m", "x", worker.EnqueueOptions{})
		newest := clojure{t, client, 4}
		newest.take(time.Hour)
		mid, _, token := newest.take(time.Hour)
		if mid != "m" {
			t.Fatalf("took %q", mid)
		}
		pass(t, client, q, 2*time.Hour)
		job := take(t, j)
		if newest.finish("m", token, true) {
			t.Error("a late report of the newest version counts")
		}
		ok(t, j.Done(t.Context(), job.Lease, 0))
	})
}
