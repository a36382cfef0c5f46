package migrate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways"
	"fiveways.dev/fiveways/test/redisd"
	"fiveways.dev/fiveways/worker"
	"fiveways.dev/fiveways/worker/carmine"
)

// pair is a Redis server with Carmine's queues, and a broker.
type pair struct {
	from   *carmine.Jobs
	redis  *redis.Client
	to     *Target
	broker worker.Jobs
}

func start(t *testing.T) pair {
	t.Helper()
	address := redisd.Start(t, redisd.Options{})
	from, err := carmine.Dial("redis://"+address, carmine.Options{Oldest: 3})
	ok(t, err)
	b, err := fiveways.Start(fiveways.Options{Data: t.TempDir(), AMQP: "off", Redis: "127.0.0.1:0"})
	ok(t, err)
	to, err := Dial(b.RedisURL(), "post")
	ok(t, err)
	jobs, err := worker.Dial(b.RedisURL())
	ok(t, err)
	client := redis.NewClient(&redis.Options{Addr: address})
	t.Cleanup(func() {
		from.Close()
		client.Close()
		jobs.Close()
		to.Close()
		b.Stop(context.Background())
	})
	return pair{from, client, to, jobs}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const queue = "mail"

func (p pair) enqueue(t *testing.T, mid, body string, o worker.EnqueueOptions) {
	t.Helper()
	o.MID = mid
	_, err := p.from.Enqueue(t.Context(), queue, []byte(body), o)
	ok(t, err)
}

func (p pair) take(t *testing.T, mid string) worker.Lease {
	t.Helper()
	jobs, err := p.from.Take(t.Context(), worker.TakeOptions{Queues: []string{queue}})
	ok(t, err)
	if len(jobs) != 1 || jobs[0].MID != mid {
		t.Fatalf("took %v, want %s", jobs, mid)
	}
	return jobs[0].Lease
}

// fill creates a queue with one id in every state.
func (p pair) fill(t *testing.T) {
	ctx := t.Context()
	p.enqueue(t, "tried", "tried", worker.EnqueueOptions{})
	ok(t, p.from.Retry(ctx, p.take(t, "tried"), time.Hour, ""))
	p.enqueue(t, "locked", "locked", worker.EnqueueOptions{})
	p.take(t, "locked")
	p.enqueue(t, "locked2", "first", worker.EnqueueOptions{Lock: 2 * time.Hour})
	p.take(t, "locked2")
	p.enqueue(t, "locked2", "second", worker.EnqueueOptions{Requeue: true, Lock: time.Minute})
	p.enqueue(t, "retried2", "first", worker.EnqueueOptions{})
	lease := p.take(t, "retried2")
	p.enqueue(t, "retried2", "second", worker.EnqueueOptions{Requeue: true})
	ok(t, p.from.Retry(ctx, lease, time.Hour, ""))
	for _, mid := range []string{"done", "remembered", "remembered2", "done2"} {
		p.enqueue(t, mid, "first", worker.EnqueueOptions{})
		lease := p.take(t, mid)
		if mid == "done2" {
			p.enqueue(t, mid, "second", worker.EnqueueOptions{Requeue: true})
		}
		remember := time.Duration(0)
		if strings.HasPrefix(mid, "remembered") {
			remember = time.Hour
		}
		ok(t, p.from.Done(ctx, lease, remember))
		if mid == "remembered2" {
			p.enqueue(t, mid, "second", worker.EnqueueOptions{Requeue: true})
		}
		if mid == "done" { // before any worker visits it
			ok(t, p.redis.LRem(ctx, "carmine:mq:mail:mid-circle", 0, mid).Err())
		}
	}
	p.enqueue(t, "plain", "plain", worker.EnqueueOptions{})
	p.enqueue(t, "bytes", "\x00\xff", worker.EnqueueOptions{})
	p.enqueue(t, "nippy", "NPY\x00j\x04name", worker.EnqueueOptions{Headers: map[string]string{carmine.ContentTypeHeader: carmine.Nippy}})
	p.enqueue(t, "later", "later", worker.EnqueueOptions{Backoff: time.Hour, Lock: time.Minute})
	ok(t, p.redis.HSet(ctx, "carmine:mq:mail:udts", "plain", 1700000000000).Err())
	ok(t, p.redis.RPush(ctx, "carmine:mq:mail:mid-circle", "nothing").Err()) // forgotten
}

// near reports whether a remaining time is approximately as expected.
func near(got, want time.Duration) bool { return got <= want && got > want-time.Minute }

func (p pair) check(t *testing.T) {
	t.Helper()
	hour := time.Hour
	for mid, want := range map[string]worker.JobStatus{
		"tried":       {State: worker.QueuedWithBackoff, Attempts: 1, Backoff: hour},
		"locked":      {State: worker.Locked, Attempts: 1, Lock: hour},
		"locked2":     {State: worker.LockedWithRequeue, Attempts: 1, Lock: 2 * hour},
		"retried2":    {State: worker.LockedWithRequeue, Attempts: 1, Lock: hour}, // kept until its backoff ends
		"done":        {},
		"remembered":  {State: worker.DoneWithBackoff, Attempts: 1, Backoff: hour},
		"remembered2": {State: worker.DoneWithRequeue, Attempts: 1, Backoff: hour},
		"done2":       {State: worker.Queued},
		"plain":       {State: worker.Queued},
		"bytes":       {State: worker.Queued},
		"nippy":       {State: worker.Queued},
		"later":       {State: worker.QueuedWithBackoff, Backoff: hour},
		"nothing":     {},
	} {
		s, err := p.broker.Status(t.Context(), "post", mid)
		if err != nil || s.State != want.State || s.Attempts != want.Attempts ||
			want.Backoff > 0 && !near(s.Backoff, want.Backoff) || want.Lock > 0 && !near(s.Lock, want.Lock) {
			t.Errorf("%s: %+v, %v; want %+v", mid, s, err, want)
		}
	}
	got := map[string]worker.Job{}
	var order []string
	for {
		jobs, err := p.broker.Take(t.Context(), worker.TakeOptions{Queues: []string{"post"}})
		ok(t, err)
		if len(jobs) == 0 {
			break
		}
		got[jobs[0].MID] = jobs[0]
		order = append(order, jobs[0].MID)
	}
	if text := strings.Join(order, " "); text != "plain bytes nippy done2" {
		t.Errorf("ready are %s", text)
	}
	if j := got["plain"]; string(j.Body) != "plain" || j.Enqueued.UnixMilli() != 1700000000000 || j.Lock != worker.DefaultLock || len(j.Headers) > 0 {
		t.Errorf("%+v", j)
	}
	if j := got["bytes"]; string(j.Body) != "\x00\xff" || j.Headers[carmine.ContentTypeHeader] != carmine.Bytes {
		t.Errorf("%+v", j)
	}
	if j := got["nippy"]; string(j.Body) != `"name"` || j.Headers[carmine.ContentTypeHeader] != carmine.JSON {
		t.Errorf("%+v", j)
	}
	if j := got["done2"]; string(j.Body) != "second" || j.Attempt != 1 {
		t.Errorf("%+v", j)
	}
}

// TestEveryState checks that the whole queue is moved with all of its state, and that nothing is
// left behind.
func TestEveryState(t *testing.T) {
	p := start(t)
	p.fill(t)
	counted, err := Count(t.Context(), p.from, queue)
	ok(t, err)
	r, err := Run(t.Context(), p.from, queue, p.to, Options{})
	if err != nil || r.Moved != 11 || r.Forgotten != 1 || r.Found != 12 || r.There+r.Failed+r.Changed > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if fmt.Sprint(counted.States) != fmt.Sprint(r.States) || counted.Found != r.Found || counted.Moved != 0 {
		t.Errorf("a dry run finds %+v, the run %+v", counted, r)
	}
	p.check(t)
	if left := p.redis.Keys(t.Context(), "*").Val(); len(left) > 0 {
		t.Errorf("keys %q are left", left)
	}
	if r, err := Run(t.Context(), p.from, queue, p.to, Options{}); err != nil || r.Found > 0 {
		t.Errorf("again: %+v, %v", r, err)
	}
}

// TestRunAgain repeats a run that was interrupted when everything had arrived and nothing was
// removed.
func TestRunAgain(t *testing.T) {
	p := start(t)
	p.fill(t)
	if r, err := Run(t.Context(), p.from, queue, p.to, Options{Keep: true}); err != nil || r.Moved != 11 || r.There > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if n := p.redis.HLen(t.Context(), "carmine:mq:mail:messages").Val(); n != 12 {
		t.Errorf("%d messages are kept", n)
	}
	r, err := Run(t.Context(), p.from, queue, p.to, Options{})
	if err != nil || r.Moved != 11 || r.There < 9 {
		t.Errorf("%+v, %v", r, err)
	}
	p.check(t)
}

// TestWhatTheBrokerDoesNotTake checks that jobs that the broker refuses stay on Redis.
func TestWhatTheBrokerDoesNotTake(t *testing.T) {
	p := start(t)
	long := strings.Repeat("m", 300)
	ok(t, p.redis.HSet(t.Context(), "carmine:mq:mail:messages", long, "x", "good", "y").Err())
	ok(t, p.redis.LPush(t.Context(), "carmine:mq:mail:mid-circle", "end-of-circle", long, "good").Err())
	r, err := Run(t.Context(), p.from, queue, p.to, Options{})
	if !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "255") || r.Moved != 1 || r.Failed != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if mids, err := p.from.MIDs(t.Context(), queue); err != nil || len(mids) != 1 || mids[0] != long {
		t.Errorf("left are %q, %v", mids, err)
	}
	other, err := Dial("redis://"+p.redis.Options().Addr, "post")
	ok(t, err)
	defer other.Close()
	if r, err := Run(t.Context(), p.from, queue, other, Options{}); err == nil || !strings.Contains(err.Error(), "unknown command") || r.Failed > 0 {
		t.Errorf("into a Redis: %+v, %v", r, err)
	}
}

// TestUnreadable checks that unreadable content stays on Redis and is reported, unless it is moved
// unchanged or no longer needed.
func TestUnreadable(t *testing.T) {
	p := start(t)
	const frozen = "NPY\x00\xff"
	header := map[string]string{carmine.ContentTypeHeader: carmine.Nippy}
	p.enqueue(t, "done", "x", worker.EnqueueOptions{})
	ok(t, p.from.Done(t.Context(), p.take(t, "done"), time.Hour))
	ok(t, p.redis.HSet(t.Context(), "carmine:mq:mail:messages", "done", "\x00>"+frozen).Err())
	p.enqueue(t, "custom", frozen, worker.EnqueueOptions{Headers: header})
	p.enqueue(t, "behind", "x", worker.EnqueueOptions{})
	p.enqueue(t, "good", "y", worker.EnqueueOptions{})
	ok(t, p.redis.HSet(t.Context(), "carmine:mq:mail:messages-rq", "behind", "\x00>"+frozen).Err())
	r, err := Run(t.Context(), p.from, queue, p.to, Options{})
	if !errors.Is(err, ErrFailed) || !errors.Is(err, worker.ErrUnreadable) || !strings.Contains(err.Error(), "custom") || r.Moved != 2 || r.Failed != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if mids, err := p.from.MIDs(t.Context(), queue); err != nil || len(mids) != 2 {
		t.Errorf("left are %q, %v", mids, err)
	}
	raw, err := carmine.New(p.redis, carmine.Options{Codec: carmine.Marks{}})
	ok(t, err)
	if r, err := Run(t.Context(), raw, queue, p.to, Options{}); err != nil || r.Moved != 2 {
		t.Errorf("as they are: %+v, %v", r, err)
	}
	got := map[string]worker.Job{}
	for range 2 {
		jobs, err := p.broker.Take(t.Context(), worker.TakeOptions{Queues: []string{"post"}})
		if err != nil || len(jobs) != 1 {
			t.Fatalf("took %v, %v", jobs, err)
		}
		got[jobs[0].MID] = jobs[0]
	}
	if j := got["custom"]; string(j.Body) != frozen || j.Headers[carmine.ContentTypeHeader] != carmine.Nippy {
		t.Errorf("%+v", got)
	}
}

// TestWhileItWorks checks that producers and workers on Redis can continue during a move: every job
// is handled there or moved, at least once.
func TestWhileItWorks(t *testing.T) {
	p := start(t)
	const n = 3000
	var requests []worker.EnqueueRequest
	for i := range n {
		requests = append(requests, worker.EnqueueRequest{Queue: queue, Body: []byte(strconv.Itoa(i)), EnqueueOptions: worker.EnqueueOptions{MID: strconv.Itoa(i)}})
	}
	_, err := p.from.EnqueueAll(t.Context(), requests[:n/2])
	ok(t, err)
	handled := map[string]bool{}
	working := make(chan error)
	go func() {
		for i := n / 2; i < n; i += 10 {
			if _, err := p.from.EnqueueAll(t.Context(), requests[i:i+10]); err != nil {
				working <- err
				return
			}
			jobs, err := p.from.Take(t.Context(), worker.TakeOptions{Queues: []string{queue}, Count: 5})
			for _, j := range jobs {
				if err = p.from.Done(t.Context(), j.Lease, 0); err == nil {
					handled[j.MID] = true
				} else if errors.Is(err, worker.ErrStale) { // it was moved
					err = nil
				}
			}
			if err != nil {
				working <- err
				return
			}
		}
		close(working)
	}()
	moved := 0
	run := func() {
		r, err := Run(t.Context(), p.from, queue, p.to, Options{})
		if err != nil && !errors.Is(err, ErrFailed) || r.Failed > 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		moved += r.Moved
	}
	run()
	for err := range working {
		ok(t, err)
	}
	run()
	for i := range n {
		mid := strconv.Itoa(i)
		s, err := p.broker.Status(t.Context(), "post", mid)
		ok(t, err)
		if s.State == worker.None && !handled[mid] {
			t.Fatalf("%s is lost", mid)
		}
	}
	if moved == 0 || len(handled) == 0 {
		t.Errorf("%d moved, %d handled", moved, len(handled))
	}
}
