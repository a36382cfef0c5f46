package carmine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/worker"
)

func records(t *testing.T, j *Jobs, mids ...string) []Record {
	t.Helper()
	all, err := j.Records(t.Context(), q, mids)
	ok(t, err)
	if len(all) != len(mids) {
		t.Fatalf("%d records of %d ids", len(all), len(mids))
	}
	return all
}

// TestRecords checks that a record has everything that is stored about an id.
func TestRecords(t *testing.T) {
	eachVersion(t, func(t *testing.T, j *Jobs, client *redis.Client) {
		clojure{t, client, 3}.enqueue("m", "\x00>NPY\x00j\x05first")
		job := take(t, j)
		ok(t, j.Retry(t.Context(), job.Lease, 0, ""))
		job = take(t, j)
		enqueue(t, j, "m", "second", worker.EnqueueOptions{Requeue: true, Lock: time.Minute})
		r := records(t, j, "m", "unknown")
		if r := r[0]; r.MID != "m" || r.State != worker.LockedWithRequeue || r.Attempts != 2 || r.Lock <= 59*time.Minute || r.Backoff != 0 ||
			string(r.Body) != `"first"` || r.ContentType != JSON || r.OwnLock != 0 || time.Since(r.Enqueued) > time.Minute ||
			r.Behind == nil || string(r.Behind.Body) != "second" || r.Behind.ContentType != Text || r.Behind.OwnLock != time.Minute {
			t.Errorf("%+v, behind %+v", r, r.Behind)
		}
		if r := r[1]; r.State != worker.None || r.Behind != nil || r.MID != "unknown" {
			t.Errorf("of an unknown id: %+v", r)
		}
		// The mark of the oldest version means the same content again.
		ok(t, client.Del(t.Context(), key(q, "messages-rq"), key(q, "lock-times-rq")).Err())
		ok(t, client.SAdd(t.Context(), key(q, "requeue"), "m").Err())
		if r := records(t, j, "m")[0]; r.Behind == nil || string(r.Behind.Body) != `"first"` || r.Behind.ContentType != JSON {
			t.Errorf("%+v, behind %+v", r, r.Behind)
		}
	})
}

// TestRemoveOnlyWhatDidNotChange checks that a job stays if it changes in any way after it was
// read.
func TestRemoveOnlyWhatDidNotChange(t *testing.T) {
	ctx := t.Context()
	j, client := dial(t, Options{Oldest: 3})
	changes := map[string]func(job worker.Job){
		"done":    func(job worker.Job) { ok(t, j.Done(ctx, job.Lease, 0)) },
		"retry":   func(job worker.Job) { ok(t, j.Retry(ctx, job.Lease, time.Hour, "")) },
		"extend":  func(job worker.Job) { ok(t, j.Extend(ctx, job.Lease, 2*time.Hour)) },
		"requeue": func(job worker.Job) { enqueue(t, j, job.MID, "2", worker.EnqueueOptions{Requeue: true}) },
		"other's": func(job worker.Job) { ok(t, client.SAdd(ctx, key(q, "requeue"), job.MID).Err()) },
		"nothing": func(worker.Job) {},
		"updated": func(job worker.Job) { ok(t, client.HSet(ctx, key(q, "messages"), job.MID, "2").Err()) },
	}
	for name, change := range changes {
		enqueue(t, j, name, "1", worker.EnqueueOptions{})
		job := take(t, j)
		all := records(t, j, name)
		change(job)
		removed, err := j.Remove(ctx, q, all)
		if want := name == "nothing"; err != nil || removed[0] != want {
			t.Errorf("%s: removed %v, %v", name, removed, err)
		}
	}
	stateIs(t, j, "nothing", worker.None)
	if n := client.HLen(ctx, key(q, "messages")).Val(); int(n) != len(changes)-1 {
		t.Errorf("%d messages are left", n)
	}
}

// TestMIDsInOrder checks that the order is that in which workers visit the ids, in both lists, and
// that ids missing from the lists are included.
func TestMIDsInOrder(t *testing.T) {
	j, client := dial(t, Options{})
	var want []string
	for i := range 20 {
		clojure{t, client, 3}.enqueue(fmt.Sprint("ready", i), "x")
		want = append(want, fmt.Sprint("ready", i))
	}
	for i := range 11_000 {
		want = append(want, fmt.Sprint("circle", i))
	}
	circle := slices.Clone(want[20:])
	ok(t, client.LPush(t.Context(), key(q, "mid-circle"), circle).Err())
	ok(t, client.HSet(t.Context(), key(q, "messages"), "lost", "x").Err())
	want = append(want, "lost")
	if mids, err := j.MIDs(t.Context(), q); err != nil || !slices.Equal(mids, want) {
		t.Errorf("%d ids, %v: %.200q", len(mids), err, mids)
	}
}

// TestNothingIsLeft checks that nothing is left after everything was removed, and that Tidy does
// not touch a queue that still has messages.
func TestNothingIsLeft(t *testing.T) {
	eachVersion(t, func(t *testing.T, j *Jobs, client *redis.Client) {
		for i := range 5 {
			enqueue(t, j, fmt.Sprint(i), strings.Repeat("x", maxRead/2), worker.EnqueueOptions{})
		}
		take(t, j)
		mids, err := j.MIDs(t.Context(), q)
		ok(t, err)
		if len(mids) != 5 {
			t.Errorf("ids %q", mids)
		}
		for len(mids) > 0 {
			if tidy, err := j.Tidy(t.Context(), q); tidy || err != nil {
				t.Fatalf("tidied %v, %v, with %q", tidy, err, mids)
			}
			r, err := j.Records(t.Context(), q, mids)
			ok(t, err)
			if len(r) > 3 || len(r) == 0 {
				t.Errorf("%d large records at once", len(r))
			}
			_, err = j.Remove(t.Context(), q, r)
			ok(t, err)
			mids = mids[len(r):]
		}
		if tidy, err := j.Tidy(t.Context(), q); !tidy || err != nil {
			t.Errorf("tidied %v, %v", tidy, err)
		}
		if left := client.Keys(t.Context(), "*").Val(); len(left) > 0 {
			t.Errorf("keys %q are left", left)
		}
	})
}
