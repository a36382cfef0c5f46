package jobs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// cell is a queue in which the id "m" is in a given state. Its content is "old", and that of the
// version behind it is "behind".
type cell struct {
	jobClient
	clock *enginetest.Clock
	fs    *vfs.Mem
	taken Job // of the locked states
}

const (
	cellStart   = int64(1_000_000)
	cellLock    = 5_000
	cellBackoff = 1_000
)

// bring creates a cell. With restart it also goes through a crash.
func bring(t *testing.T, s job.State, restart bool) *cell {
	t.Helper()
	c := &cell{clock: enginetest.NewClock(cellStart), fs: vfs.NewMem()}
	b := openBroker(t, c.fs, func(o *broker.Options) { o.Now = c.clock.Now })
	c.jobClient = jobClient{enginetest.NewClient(t, b), "q"}
	old := func(change func(*Enqueue)) { c.mustEnqueue("m", "old", change) }
	behind := func() { c.mustEnqueue("m", "behind", func(e *Enqueue) { e.Requeue = true }) }
	switch s {
	case job.None:
		c.mustEnqueue("other", "", nil)
		enginetest.Must(t, c.report(c.takeOne(0), Done, 0))
		c.take(1, 0)
	case job.Queued:
		old(nil)
	case job.QueuedWithBackoff:
		old(func(e *Enqueue) { e.Backoff = cellBackoff })
	default:
		old(nil)
		c.taken = c.takeOne(cellLock)
	}
	switch s {
	case job.LockedWithRequeue:
		behind()
	case job.DoneAwaitingGC:
		enginetest.Must(t, c.report(c.taken, Done, 0))
	case job.DoneWithBackoff:
		enginetest.Must(t, c.report(c.taken, Done, cellBackoff))
	case job.DoneWithRequeue:
		behind()
		enginetest.Must(t, c.report(c.taken, Done, cellBackoff))
	}
	c.wantState("m", s)
	if restart {
		c.crash()
		if s == job.DoneAwaitingGC { // a result that is only kept for a while is not durable
			s = job.None
		}
		c.wantState("m", s)
	}
	return c
}

// crash reopens the broker without the unsynced data.
func (c *cell) crash() {
	c.T.Helper()
	enginetest.Sync(c.T, c.B)
	want, err := c.B.Hash()
	enginetest.Must(c.T, err)
	c.fs = c.fs.CrashClone(rand.New(rand.NewPCG(1, 1)))
	old := c.Client
	b := openBroker(c.T, c.fs, func(o *broker.Options) { o.Now = c.clock.Now })
	c.Client = enginetest.NewClient(c.T, b)
	got, err := b.Hash()
	enginetest.Must(c.T, err)
	if got != want {
		c.T.Fatalf("after a crash the hash is %x, want %x", got, want)
	}
	old.Close()
	enginetest.Close(c.T, old.B)
}

func (c *cell) end() {
	c.Close()
	enginetest.Close(c.T, c.B)
}

// drainJobs takes and finishes all ready jobs.
func (c *cell) drainJobs() (bodies []string) {
	c.T.Helper()
	for _, j := range c.take(100, 0) {
		bodies = append(bodies, string(j.Env.Body()))
	}
	return bodies
}

var cellWishes = map[string]func(*Enqueue){
	"plain":   func(e *Enqueue) {},
	"update":  func(e *Enqueue) { e.Update = true },
	"requeue": func(e *Enqueue) { e.Requeue = true },
	"both":    func(e *Enqueue) { e.Update, e.Requeue = true, true },
	"reset":   func(e *Enqueue) { e.ResetBackoff, e.Backoff = true, 3*cellBackoff },
	"renew":   func(e *Enqueue) { e.Update, e.ResetBackoff, e.Backoff = true, true, 3*cellBackoff },
	"hasten":  func(e *Enqueue) { e.ResetBackoff = true },
}

// TestEnqueueCells tries every option in every state. The jobs that can be taken at once, and after
// all backoffs and locks have ended, show that contents and times are right.
func TestEnqueueCells(t *testing.T) {
	added, updated := "added", "updated"
	already, locked, backoff := failure.ErrAlreadyQueued.Error(), failure.ErrLocked.Error(), failure.ErrBackoff.Error()
	rows := []struct {
		state  job.State
		wishes string // names in cellWishes
		answer string
		next   job.State
		now    string // can be taken at once
		later  string // can be taken later
	}{
		{job.None, "plain update requeue both hasten", added, job.Queued, "[new]", "[new]"},
		{job.None, "reset renew", added, job.QueuedWithBackoff, "[]", "[new]"},
		{job.Queued, "plain requeue", already, job.Queued, "[old]", "[old]"},
		{job.Queued, "update both", updated, job.Queued, "[new]", "[new]"},
		{job.Queued, "reset", updated, job.QueuedWithBackoff, "[]", "[old]"},
		{job.Queued, "renew", updated, job.QueuedWithBackoff, "[]", "[new]"},
		{job.Queued, "hasten", updated, job.Queued, "[old]", "[old]"},
		{job.QueuedWithBackoff, "plain requeue", already, job.QueuedWithBackoff, "[]", "[old]"},
		{job.QueuedWithBackoff, "update both", updated, job.QueuedWithBackoff, "[]", "[new]"},
		{job.QueuedWithBackoff, "reset", updated, job.QueuedWithBackoff, "[]", "[old]"},
		{job.QueuedWithBackoff, "renew", updated, job.QueuedWithBackoff, "[]", "[new]"},
		{job.QueuedWithBackoff, "hasten", updated, job.Queued, "[old]", "[old]"},
		{job.Locked, "plain update reset renew hasten", locked, job.Locked, "[]", "[old]"},
		{job.Locked, "requeue both", added, job.LockedWithRequeue, "[]", "[old]"},
		{job.LockedWithRequeue, "plain update reset renew hasten", locked, job.LockedWithRequeue, "[]", "[old]"},
		{job.LockedWithRequeue, "requeue", already, job.LockedWithRequeue, "[]", "[old]"},
		{job.LockedWithRequeue, "both", updated, job.LockedWithRequeue, "[]", "[old]"},
		{job.DoneAwaitingGC, "plain update requeue both reset renew hasten", added, job.DoneWithRequeue, "[new]", "[new]"},
		{job.DoneWithBackoff, "plain update reset renew hasten", backoff, job.DoneWithBackoff, "[]", "[]"},
		{job.DoneWithBackoff, "requeue both", added, job.DoneWithRequeue, "[]", "[new]"},
		{job.DoneWithRequeue, "plain update reset renew hasten", backoff, job.DoneWithRequeue, "[]", "[behind]"},
		{job.DoneWithRequeue, "requeue", already, job.DoneWithRequeue, "[]", "[behind]"},
		{job.DoneWithRequeue, "both", updated, job.DoneWithRequeue, "[]", "[new]"},
	}
	seen := map[string]bool{}
	for _, r := range rows {
		for name, change := range cellWishes {
			if !slices.Contains(strings.Fields(r.wishes), name) {
				continue
			}
			seen[fmt.Sprint(r.state, name)] = true
			for _, restart := range []bool{false, true} {
				if restart && r.state == job.DoneAwaitingGC {
					continue
				}
				t.Run(fmt.Sprint(r.state, "/", name, "/restart=", restart), func(t *testing.T) {
					for _, later := range []bool{false, true} {
						c := bring(t, r.state, restart)
						upd, err := c.enqueue("m", "new", change)
						answer := added
						var e *failure.Error
						switch {
						case errors.As(err, &e):
							answer = e.Err.Error()
						case upd:
							answer = updated
						}
						if answer != r.answer {
							t.Fatalf("answer %q, want %q", answer, r.answer)
						}
						c.wantState("m", r.next)
						if restart {
							c.crash()
						}
						want := r.now
						if later {
							want = r.later
							c.clock.MS.Add(10 * cellLock)
						}
						if got := fmt.Sprint(c.drainJobs()); got != want {
							t.Fatalf("later %v: taken %s, want %s", later, got, want)
						}
						c.end()
					}
				})
			}
		}
	}
	for s := job.None; s <= job.DoneWithRequeue; s++ {
		for name := range cellWishes {
			if !seen[fmt.Sprint(s, name)] {
				t.Errorf("no row for %v, %s", s, name)
			}
		}
	}
}

// An enqueue behind a done id does not change when the waiting version is ready and, without an
// update, not its content.
func TestBehindDoneKeepsTime(t *testing.T) {
	c := bring(t, job.DoneWithRequeue, false)
	defer c.end()
	if upd, err := c.enqueue("m", "new", func(e *Enqueue) { e.Update, e.Requeue, e.ResetBackoff = true, true, true }); !upd || err != nil {
		t.Fatal(upd, err)
	}
	c.wantState("m", job.DoneWithRequeue)
	c.clock.MS.Add(cellBackoff - 1)
	if got := c.drainJobs(); got != nil {
		t.Fatalf("taken %q before the backoff was over", got)
	}
	c.clock.MS.Add(1)
	j := c.takeOne(0)
	if string(j.Env.Body()) != "new" || j.First != cellStart+cellBackoff || j.Attempt != 1 {
		t.Fatalf("took %q, first %d, attempt %d", j.Env.Body(), j.First, j.Attempt)
	}
}

// Every outcome of a lease, with and without a version behind it, before and after a restart.
func TestReportCells(t *testing.T) {
	rows := []struct {
		name    string
		behind  bool
		outcome Outcome
		backoff int64
		next    job.State
		now     string
		after   job.State // after the backoff and a take
		later   string
	}{
		{"done", false, Done, 0, job.DoneAwaitingGC, "[]", job.None, "[]"},
		{"done, remembered", false, Done, 500, job.DoneWithBackoff, "[]", job.None, "[]"},
		{"done, version behind", true, Done, 0, job.DoneWithRequeue, "[behind 1]", job.Locked, "[]"},
		{"done, remembered, version behind", true, Done, 500, job.DoneWithRequeue, "[]", job.Locked, "[behind 1]"},
		{"failed", false, Failed, 0, job.DoneAwaitingGC, "[]", job.None, "[]"},
		{"failed, remembered", false, Failed, 500, job.DoneWithBackoff, "[]", job.None, "[]"},
		{"failed, version behind", true, Failed, 0, job.DoneWithRequeue, "[behind 1]", job.Locked, "[]"},
		{"retry", false, Retry, 0, job.Queued, "[old 2]", job.Locked, "[]"},
		{"retry later", false, Retry, 500, job.QueuedWithBackoff, "[]", job.Locked, "[old 2]"},
		{"retry, version behind", true, Retry, 0, job.Queued, "[old 2]", job.LockedWithRequeue, "[]"},
		{"retry later, version behind", true, Retry, 500, job.QueuedWithBackoff, "[]", job.LockedWithRequeue, "[old 2]"},
	}
	for _, r := range rows {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprint(r.name, "/restart=", restart), func(t *testing.T) {
				state := job.Locked
				if r.behind {
					state = job.LockedWithRequeue
				}
				c := bring(t, state, restart)
				defer c.end()
				enginetest.Must(t, c.report(c.taken, r.outcome, r.backoff))
				c.wantState("m", r.next)
				if restart && r.next != job.DoneAwaitingGC && (r.next != job.DoneWithRequeue || r.backoff > 0) {
					c.crash()
					c.wantState("m", r.next)
				}
				if err := c.report(c.taken, Done, 0); !errors.Is(err, failure.ErrStale) {
					t.Fatalf("a second report: %v", err)
				}
				take := func() string {
					var got []string
					for _, j := range c.take(9, cellLock) {
						got = append(got, fmt.Sprintf("%s %d", j.Env.Body(), j.Attempt))
					}
					return fmt.Sprint(got)
				}
				if got := take(); got != r.now {
					t.Fatalf("taken %s, want %s", got, r.now)
				}
				c.clock.MS.Add(600)
				if got := take(); got != r.later {
					t.Fatalf("taken later %s, want %s", got, r.later)
				}
				c.wantState("m", r.after)
			})
		}
	}
}

// A lease ends at its time. Extend changes that time, a restart does not. Then the job can be taken
// again, and a report with the old token is stale.
func TestLeaseTimes(t *testing.T) {
	for _, restart := range []bool{false, true} {
		c := bring(t, job.LockedWithRequeue, restart)
		if got := c.status("m").Lock; got != cellLock {
			t.Fatalf("the lock has %d ms left", got)
		}
		c.clock.MS.Add(cellLock - 1)
		c.wantState("m", job.LockedWithRequeue)
		extend := &Extend{OnQueue: enginetest.On("q"), ID: []byte("m"), Token: c.taken.Token, Lock: cellLock}
		c.MustDo(extend)
		if restart {
			c.crash()
		}
		c.clock.MS.Add(cellLock - 1)
		if info := c.status("m"); info.State != job.LockedWithRequeue || info.Lock != 1 || info.Attempts != 1 {
			t.Fatalf("extended: %+v", info)
		}
		c.clock.MS.Add(1)
		if info := c.status("m"); info.State != job.Queued || info.Attempts != 1 {
			t.Fatalf("over: %+v", info)
		}
		enginetest.Must(t, c.Do(extend))
		if !errors.Is(extend.Err, failure.ErrStale) {
			t.Fatal(extend.Err)
		}
		j := c.takeOne(cellLock)
		if j.Attempt != 2 || string(j.Env.Body()) != "old" || j.First != cellStart {
			t.Fatalf("took %+v", j)
		}
		if err := c.report(c.taken, Done, 0); !errors.Is(err, failure.ErrStale) {
			t.Fatal(err)
		}
		wrong := j
		wrong.ID = []byte("n")
		if err := c.report(wrong, Done, 0); !errors.Is(err, failure.ErrStale) {
			t.Fatal("another id:", err)
		}
		c.wantState("m", job.LockedWithRequeue)
		enginetest.Must(t, c.report(j, Done, 0))
		j = c.takeOne(0)
		if string(j.Env.Body()) != "behind" || j.Attempt != 1 || j.Lock != DefaultLock {
			t.Fatalf("took %+v", j)
		}
		c.end()
	}
}
