package carmine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/worker"
)

// TestPayloads checks that values from Clojure are decoded correctly, and that Clojure can read
// values from Go, with each codec.
func TestPayloads(t *testing.T) {
	type payload struct{ kept, body, contentType, again string }
	for name, c := range map[string]struct {
		codec    Codec
		payloads []payload
	}{
		"values": {nil, []payload{
			{"plain", "plain", Text, "\x00>NPY\x00\x0d\x00\x00\x00\x05plain"},
			{"\x00>NPY\x00i\a{\"N\":0}", `{"N":0}`, Text, "\x00>NPY\x00\x0d\x00\x00\x00\x07{\"N\":0}"},
			{"", "", Text, "\x00>NPY\x00\x0d\x00\x00\x00\x00"},
			{"\x00<\xff\x00bytes", "\xff\x00bytes", Bytes, "\x00>NPY\x00\x02\x00\x00\x00\x07\xff\x00bytes"},
			{"\x00>NPY\x00\x07\x03NPY", "NPY", Bytes, "\x00>NPY\x00\x02\x00\x00\x00\x03NPY"},
			{"\x00_", "null", JSON, "\x00>NPY\x00\x03"},
			{"\x00>NPY\x00j\x04name", `"name"`, JSON, "\x00>NPY\x00\x0d\x00\x00\x00\x04name"},
			{"\x00>NPY\x00\x70\x01j\x02to\x69\x03ann", `{"to":"ann"}`, JSON, "\x00>NPY\x00\x1e\x00\x00\x00\x01j\x02to\x0d\x00\x00\x00\x03ann"},
		}},
		"marks": {Marks{}, []payload{
			{"plain", "plain", Text, "plain"},
			{"", "", Text, ""},
			{"\x00<\xff\x00bytes", "\xff\x00bytes", Bytes, "\x00<\xff\x00bytes"},
			{"\x00<", "", Bytes, "\x00<"},
			{"\x00>NPY\x00j\x04name", "NPY\x00j\x04name", Nippy, "\x00>NPY\x00j\x04name"},
		}},
	} {
		j, client := dial(t, Options{Codec: c.codec})
		kept := func() string { return client.HGet(t.Context(), key(q, "messages"), "m").Val() }
		for _, p := range c.payloads {
			clojure{t, client, 3}.enqueue("m", p.kept)
			job := take(t, j)
			if string(job.Body) != p.body || job.Headers[ContentTypeHeader] != p.contentType || len(job.Headers) > 0 && p.contentType == Text {
				t.Errorf("%s: %q is taken as %q, %q", name, p.kept, job.Body, job.Headers)
			}
			ok(t, j.Done(t.Context(), job.Lease, 0))
			takeNone(t, j)
			enqueue(t, j, "m", p.body, worker.EnqueueOptions{Headers: map[string]string{ContentTypeHeader: p.contentType}})
			if kept() != p.again {
				t.Errorf("%s: %q of type %q is kept as %q, want %q", name, p.body, p.contentType, kept(), p.again)
			}
			ok(t, j.Clear(t.Context(), q))
		}
		for _, body := range []string{"\xff", "\x00>forged", "\x00<forged"} { // none may be decoded as a marked value
			enqueue(t, j, "m", body, worker.EnqueueOptions{})
			if job := take(t, j); string(job.Body) != body || job.Headers[ContentTypeHeader] == Nippy {
				t.Errorf("%s: %q is taken as %q, %q", name, body, job.Body, job.Headers)
			}
			ok(t, j.Clear(t.Context(), q))
		}
	}
	j, _ := dial(t, Options{})
	if _, err := j.Enqueue(t.Context(), q, []byte("{"), worker.EnqueueOptions{Headers: map[string]string{ContentTypeHeader: JSON}}); err == nil {
		t.Error("half an object is enqueued as JSON")
	}
}

// TestUnreadable checks that a job whose content Go cannot read stays unchanged for other workers.
// It is reported, and other jobs are taken meanwhile.
func TestUnreadable(t *testing.T) {
	eachVersion(t, func(t *testing.T, j *Jobs, client *redis.Client) {
		theirs := clojure{t, client, 4}
		const custom = "\x00>NPY\x00\xff"
		theirs.enqueue("custom", custom)
		theirs.enqueue("good", "x")
		theirs.enqueue("encrypted", "\x00>NPY\x0exxxx")
		all := worker.TakeOptions{Queues: []string{q}, Count: 10}
		jobs, err := j.Take(t.Context(), all)
		if !errors.Is(err, worker.ErrUnreadable) || !strings.Contains(err.Error(), `"custom" of queue "mail"`) || !strings.Contains(err.Error(), "encrypted") ||
			len(jobs) != 1 || jobs[0].MID != "good" {
			t.Fatalf("took %v, %v", jobs, err)
		}
		ok(t, j.Done(t.Context(), jobs[0].Lease, 0))
		for range 3 { // reported only once
			takeNone(t, j)
		}
		for _, mid := range []string{"custom", "encrypted"} {
			if s, err := j.Status(t.Context(), q, mid); err != nil || s.State != worker.Queued || s.Attempts != 0 {
				t.Errorf("%s is %+v, %v", mid, s, err)
			}
		}
		if kept := client.HGet(t.Context(), key(q, "messages"), "custom").Val(); kept != custom {
			t.Errorf("it is %q now", kept)
		}
		found := map[string]bool{}
		for range 20 {
			if mid, _, token := theirs.take(time.Hour); mid != "" {
				found[mid] = theirs.finish(mid, token, true)
			}
		}
		if !found["custom"] || !found["encrypted"] {
			t.Errorf("programs that can read them found %v", found)
		}
		j.left.told = nil // it is due to be reported again
		theirs.enqueue("again", custom)
		if _, err := j.Take(t.Context(), worker.TakeOptions{Queues: []string{q}, Wait: time.Minute}); !errors.Is(err, worker.ErrUnreadable) {
			t.Errorf("while it waits: %v", err)
		}
	})
}

// TestWhatItRefuses checks that unsupported options are refused and not silently dropped.
func TestWhatItRefuses(t *testing.T) {
	j, _ := dial(t, Options{})
	for _, o := range []worker.EnqueueOptions{{Priority: 1}, {Expire: time.Hour}, {Headers: map[string]string{"who": "me"}}} {
		if _, err := j.Enqueue(t.Context(), q, nil, o); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, mid := range []string{marker, strings.Repeat("m", maxMID+1)} {
		if _, err := j.Enqueue(t.Context(), q, nil, worker.EnqueueOptions{MID: mid}); !errors.Is(err, errMID) {
			t.Errorf("%q: %v", mid, err)
		}
	}
	if _, err := j.Take(t.Context(), worker.TakeOptions{}); err == nil {
		t.Error("a take of no queue")
	}
	for _, o := range []Options{{Oldest: 1}, {Oldest: 4}, {Poll: time.Hour}, {Poll: time.Microsecond}} {
		if _, err := Dial("redis://127.0.0.1", o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	if _, err := Dial("http://127.0.0.1", Options{}); err == nil {
		t.Error("a wrong URL")
	}
	if names, err := j.Names(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("names %q, %v", names, err)
	}
}

// TestWoken checks that a waiting take gets a job at once, from any producer, and also when a lock
// or a backoff ends, not only at its next poll. In every other round the take may not have started
// to wait: a job that is already there must not be missed.
func TestWoken(t *testing.T) {
	for name, wake := range map[string]func(j *Jobs, client *redis.Client){
		"by Go":           func(j *Jobs, _ *redis.Client) { enqueue(t, j, "m", "x", worker.EnqueueOptions{}) },
		"by generation 3": func(_ *Jobs, client *redis.Client) { clojure{t, client, 3}.enqueue("m", "x") },
		"when its time is": func(j *Jobs, _ *redis.Client) {
			enqueue(t, j, "m", "x", worker.EnqueueOptions{Backoff: 20 * time.Millisecond})
		},
	} {
		t.Run(name, func(t *testing.T) {
			j, client := dial(t, Options{Poll: maxPoll})
			const rounds = 10
			late := 0
			for i := range rounds {
				var both sync.WaitGroup
				var began time.Time
				taking, over := context.WithCancel(t.Context())
				both.Go(func() {
					for i%2 == 0 && !strings.Contains(client.Info(taking, "clients").Val(), "blocked_clients:1") && taking.Err() == nil {
					}
					began = time.Now()
					wake(j, client)
				})
				jobs, err := j.Take(t.Context(), worker.TakeOptions{Queues: []string{q}, Wait: time.Minute})
				taken := time.Now()
				over()
				both.Wait()
				if err != nil || len(jobs) != 1 {
					t.Fatalf("took %v, %v", jobs, err)
				}
				if taken.Sub(began) > maxPoll/2 {
					late++
				}
				ok(t, j.Done(t.Context(), jobs[0].Lease, 0))
				takeNone(t, j)
			}
			if late >= rounds/2 { // all that had started to wait; a slow machine causes some
				t.Errorf("%d of %d came as late as with the next poll", late, rounds)
			}
		})
	}
}

// TestOldProducersAreFoundByPolling checks that jobs of producers that do not wake a take are found
// by polling.
func TestOldProducersAreFoundByPolling(t *testing.T) {
	j, client := dial(t, Options{Poll: 10 * time.Millisecond})
	var both sync.WaitGroup
	both.Go(func() { clojure{t, client, 2}.enqueue("m", "x") })
	jobs, err := j.Take(t.Context(), worker.TakeOptions{Queues: []string{q}, Wait: time.Minute})
	both.Wait()
	if err != nil || len(jobs) != 1 {
		t.Fatalf("took %v, %v", jobs, err)
	}
}

// TestLongQueue checks that ready jobs are found behind more messages than one script call visits,
// and in the order of the queue.
func TestLongQueue(t *testing.T) {
	eachVersion(t, func(t *testing.T, j *Jobs, _ *redis.Client) {
		var requests []worker.EnqueueRequest
		for i := range 2*stepsAtOnce + 50 {
			r := worker.EnqueueRequest{Queue: q, EnqueueOptions: worker.EnqueueOptions{MID: fmt.Sprint(i), Backoff: time.Hour}}
			if i == stepsAtOnce+7 || i == 2*stepsAtOnce+9 || i == 2*stepsAtOnce+10 {
				r.Backoff = 0
			}
			requests = append(requests, r)
		}
		_, err := j.EnqueueAll(t.Context(), requests)
		ok(t, err)
		for _, want := range []string{"507", "1009", "1010"} {
			if job := take(t, j); job.MID != want {
				t.Fatalf("took %s, want %s", job.MID, want)
			}
		}
		takeNone(t, j)
		s, err := j.QueueStatus(t.Context(), q)
		if want := (worker.QueueStatus{Locked: 3, Backoff: len(requests) - 3, Total: len(requests)}); err != nil || s != want {
			t.Errorf("status %+v, %v; want %+v", s, err, want)
		}
	})
}

// TestScriptsAreForgotten checks that scripts are loaded again after a restart of Redis or SCRIPT
// FLUSH, also in the middle of a batch.
func TestScriptsAreForgotten(t *testing.T) {
	j, client := dial(t, Options{})
	for i := range 3 {
		ok(t, client.ScriptFlush(t.Context()).Err())
		requests := []worker.EnqueueRequest{{Queue: q}, {Queue: q}, {Queue: q, EnqueueOptions: worker.EnqueueOptions{MID: "same"}}}
		results, err := j.EnqueueAll(t.Context(), requests)
		ok(t, err)
		for n, r := range results {
			if again := n == 2 && i > 0; again != errors.Is(r.Err, worker.ErrAlreadyQueued) || !again && r.Err != nil {
				t.Errorf("%d: %+v", i, r)
			}
		}
		ok(t, client.ScriptFlush(t.Context()).Err())
		stateIs(t, j, "same", worker.Queued)
	}
}

// TestOldRemovalLeavesNothingBehind checks that the second version left behind when a worker of
// version 2 removes a job is not used for a new job with the same id.
func TestOldRemovalLeavesNothingBehind(t *testing.T) {
	j, client := dial(t, Options{Oldest: 3})
	enqueue(t, j, "m", "1", worker.EnqueueOptions{})
	job := take(t, j)
	enqueue(t, j, "m", "2", worker.EnqueueOptions{Requeue: true, Lock: time.Minute})
	ok(t, j.Done(t.Context(), job.Lease, 0))
	old := clojure{t, client, 2}
	for range 3 {
		old.take(time.Hour)
	}
	stateIs(t, j, "m", worker.None)
	enqueue(t, j, "m", "3", worker.EnqueueOptions{})
	job = take(t, j)
	stateIs(t, j, "m", worker.Locked)
	if string(job.Body) != "3" || job.Lock != worker.DefaultLock {
		t.Errorf("took %+v", job)
	}
}

// TestLateReportCounts checks that a late report is accepted until another worker has taken the
// job.
func TestLateReportCounts(t *testing.T) {
	j, client := dial(t, Options{})
	enqueue(t, j, "m", "1", worker.EnqueueOptions{})
	job := take(t, j)
	pass(t, client, q, 2*worker.DefaultLock)
	stateIs(t, j, "m", worker.Queued)
	ok(t, j.Extend(context.Background(), job.Lease, time.Hour))
	stateIs(t, j, "m", worker.Locked)
	pass(t, client, q, 2*worker.DefaultLock)
	ok(t, j.Done(context.Background(), job.Lease, time.Hour))
	stateIs(t, j, "m", worker.DoneWithBackoff)
	pass(t, client, q, 2*time.Hour)
	enqueue(t, j, "m", "2", worker.EnqueueOptions{})
	take(t, j)
	pass(t, client, q, 2*worker.DefaultLock)
	enqueue(t, j, "m", "3", worker.EnqueueOptions{Update: true})
	if err := j.Done(context.Background(), job.Lease, 0); !errors.Is(err, worker.ErrStale) {
		t.Errorf("of what was updated meanwhile: %v", err)
	}
	if job := take(t, j); string(job.Body) != "3" || job.Attempt != 2 {
		t.Errorf("took %+v", job)
	}
}
