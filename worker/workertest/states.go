package workertest

import (
	"testing"
	"time"

	"fiveways.dev/fiveways/worker"
)

func inOrder(_ *testing.T, b bench) {
	for _, body := range []string{"a", "b", "c"} {
		b.add(body, worker.EnqueueOptions{}, worker.Added)
	}
	jobs, err := b.Take(b.ctx, worker.TakeOptions{Queues: []string{b.queue}, Count: 2})
	if err != nil || len(jobs) != 2 || string(jobs[0].Body) != "a" || string(jobs[1].Body) != "b" {
		b.Fatalf("took %+v, %v; want a and b", jobs, err)
	}
	for _, j := range jobs {
		if j.Lock != worker.DefaultLock || j.Attempt != 1 || j.Token == "" {
			b.Errorf("%+v: want the first attempt, a token and a lock of an hour", j)
		}
		if age := time.Since(j.Enqueued); age < -time.Minute || age > time.Minute {
			b.Errorf("enqueued at %v, which is not now", j.Enqueued)
		}
	}
	if jobs[0].Token == jobs[1].Token && jobs[0].MID == jobs[1].MID {
		b.Error("two jobs have one lease")
	}
	b.done(b.get("c", 1), 0)
	b.nothing()
}

func bodies(_ *testing.T, b bench) {
	every := make([]byte, 1000)
	for i := range every {
		every[i] = byte(i)
	}
	for _, body := range []string{"", "line\r\nline\r\n", string(every)} {
		b.add(body, worker.EnqueueOptions{}, worker.Added)
		b.done(b.get(body, 1), 0)
	}
	b.add("odd", worker.EnqueueOptions{MID: "id with\r\nodd \x00 bytes"}, worker.Added)
	if j := b.get("odd", 1); j.MID != "id with\r\nodd \x00 bytes" {
		b.Errorf("its id is %q", j.MID)
	}
}

func ownIDs(_ *testing.T, b bench) {
	first, second := b.add("same", worker.EnqueueOptions{}, worker.Added), b.add("same", worker.EnqueueOptions{}, worker.Added)
	if first == second {
		b.Errorf("two jobs have the id %q", first)
	}
	b.state(first, worker.Queued)
	if j := b.get("same", 1); j.MID != first {
		b.Errorf("took %q, want %q", j.MID, first)
	}
}

func whileQueued(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	b.add("2", worker.EnqueueOptions{MID: "m"}, worker.ErrAlreadyQueued)
	b.add("2", worker.EnqueueOptions{MID: "m", Requeue: true}, worker.ErrAlreadyQueued)
	b.add("3", worker.EnqueueOptions{MID: "m", Update: true}, worker.Updated)
	b.add("4", worker.EnqueueOptions{MID: "m", ResetDelay: true, Backoff: long}, worker.Updated)
	b.state("m", worker.QueuedWithBackoff)
	b.add("5", worker.EnqueueOptions{MID: "m"}, worker.ErrAlreadyQueued)
	b.add("6", worker.EnqueueOptions{MID: "m", ResetDelay: true}, worker.Updated)
	b.get("3", 1)
}

func whileLocked(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	j := b.get("1", 1)
	b.state("m", worker.Locked)
	b.add("2", worker.EnqueueOptions{MID: "m"}, worker.ErrLocked)
	b.add("2", worker.EnqueueOptions{MID: "m", Update: true}, worker.ErrLocked)
	b.add("3", worker.EnqueueOptions{MID: "m", Requeue: true}, worker.Added)
	b.state("m", worker.LockedWithRequeue)
	b.add("4", worker.EnqueueOptions{MID: "m", Requeue: true}, worker.ErrAlreadyQueued)
	b.add("5", worker.EnqueueOptions{MID: "m", Requeue: true, Update: true}, worker.Updated)
	b.nothing()
	b.done(j, 0)
	b.done(b.get("5", 1), 0)
	b.nothing()
}

func whileRemembered(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	b.done(b.get("1", 1), long)
	if s := b.state("m", worker.DoneWithBackoff); s.Backoff <= 0 || s.Backoff > long {
		b.Errorf("%v are left of its backoff", s.Backoff)
	}
	b.add("2", worker.EnqueueOptions{MID: "m"}, worker.ErrBackoff)
	b.nothing()
	b.add("3", worker.EnqueueOptions{MID: "m", Requeue: true}, worker.Added)
	b.state("m", worker.DoneWithRequeue)
	b.nothing()
	b.add("other", worker.EnqueueOptions{MID: "n"}, worker.Added)
	b.done(b.get("other", 1), short)
	b.add("again", worker.EnqueueOptions{MID: "n", Requeue: true}, worker.Added)
	b.done(b.get("again", 1), 0)
}

func afterDone(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	j := b.get("1", 1)
	b.done(j, 0)
	b.state("m", worker.DoneAwaitingGC, worker.None)
	b.stale(j.Lease)
	b.nothing()
	b.state("m", worker.None)
	b.add("2", worker.EnqueueOptions{MID: "m"}, worker.Added)
	b.done(b.get("2", 1), 0)
	b.add("3", worker.EnqueueOptions{MID: "m"}, worker.Added)
	b.get("3", 1)
}

func update(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	b.add("behind", worker.EnqueueOptions{}, worker.Added)
	b.add("2", worker.EnqueueOptions{MID: "m", Update: true, Lock: time.Minute}, worker.Updated)
	if j := b.get("2", 1); j.Lock != time.Minute {
		b.Errorf("its lock is %v, want a minute", j.Lock)
	}
	b.get("behind", 1)
}

func delay(_ *testing.T, b bench) {
	begun := time.Now()
	b.add("later", worker.EnqueueOptions{MID: "m", Backoff: short}, worker.Added)
	if s := b.state("m", worker.QueuedWithBackoff); s.Backoff <= 0 || s.Backoff > short {
		b.Errorf("%v are left of its backoff", s.Backoff)
	}
	b.add("now", worker.EnqueueOptions{}, worker.Added)
	b.get("now", 1)
	b.get("later", 1)
	if took := time.Since(begun); took < short-5*time.Millisecond {
		b.Errorf("it was taken after %v", took)
	}
}

func retry(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	first := b.get("1", 1)
	begun := time.Now()
	b.ok(b.Retry(b.ctx, first.Lease, short, "why"))
	told := b.state("m", worker.QueuedWithBackoff).Error // "" where the broker does not store it
	if told != "" && told != "why" {
		b.Errorf("its error is %q", told)
	}
	second := b.get("1", 2)
	if took := time.Since(begun); took < short-5*time.Millisecond {
		b.Errorf("it came back after %v", took)
	}
	if d := second.Enqueued.Sub(first.Enqueued); d != 0 {
		b.Errorf("the time of its enqueue moved by %v", d)
	}
	b.stale(first.Lease)
	b.ok(b.Retry(b.ctx, second.Lease, 0, ""))
	third := b.get("1", 3)
	if s := b.state("m", worker.Locked); s.Attempts != 3 || s.Lock <= 0 || s.Error != told {
		b.Errorf("%+v: want three attempts, some of the lock left, and the error %q", s, told)
	}
	b.done(third, 0)
	b.nothing()
}

func fail(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	j := b.get("1", 1)
	b.ok(b.Fail(b.ctx, j.Lease, "no good\r\nat all"))
	b.stale(j.Lease)
	b.nothing()
	b.state("m", worker.None)
}

func lockRunsOut(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	jobs, err := b.Take(b.ctx, worker.TakeOptions{Queues: []string{b.queue}, Lock: short})
	if err != nil || len(jobs) != 1 || jobs[0].Lock != short {
		b.Fatalf("took %+v, %v; want one, locked for %v", jobs, err, short)
	}
	second := b.get("1", 2)
	b.stale(jobs[0].Lease)
	b.state("m", worker.Locked)
	b.done(second, 0)
	b.stale(second.Lease)
}

func ownLock(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{Lock: short}, worker.Added)
	if j := b.get("1", 1); j.Lock != short {
		b.Errorf("its lock is %v, want %v", j.Lock, short)
	}
	b.get("1", 2)
}

func extend(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m", Lock: 10 * short}, worker.Added)
	b.add("2", worker.EnqueueOptions{}, worker.Added)
	j := b.get("1", 1)
	b.ok(b.Extend(b.ctx, j.Lease, long))
	if s := b.state("m", worker.Locked); s.Lock <= 10*short {
		b.Errorf("%v are left of its lock", s.Lock)
	}
	b.ok(b.Extend(b.ctx, j.Lease, short))
	b.get("2", 1)
	b.get("1", 2)
	b.stale(j.Lease)
}
