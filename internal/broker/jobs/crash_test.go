package jobs

import (
	"errors"
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/job"
)

// jobLife runs a sequence of commands on a queue of jobs. It records for each id its possible
// states after a crash: one if all its commands were answered, two if the last one was not.
type jobLife struct {
	clock *enginetest.Clock
	may   map[string][]jobFate
	taken map[string]Job
	full  bool // it ran to its end
}

// jobFate is a state and its visible values.
type jobFate struct {
	state    job.State
	attempts uint32
	body     string
	until    int64 // of a lease or a backoff
}

func (l *jobLife) live(t *testing.T, b *broker.Broker) {
	c := enginetest.NewClient(t, b)
	// do runs a command about an id and reports whether it was answered.
	do := func(id string, next jobFate, k broker.Command) bool {
		was := jobFate{}
		if have := l.may[id]; len(have) > 0 {
			was = have[0]
		}
		l.may[id] = []jobFate{was, next}
		if c.Do(k) != nil {
			return false
		}
		if err := k.Failure(); errors.Is(err, failure.ErrLogFailed) || errors.Is(err, failure.ErrClosed) {
			return false
		} else if err != nil {
			t.Errorf("%T of %q: %v", k, id, err)
			return false
		}
		l.may[id] = []jobFate{next}
		return true
	}
	for i := range 12 {
		id := fmt.Sprint("j", i)
		now := l.clock.MS.Load()
		e := &Enqueue{OnQueue: enginetest.On("jobs"), ID: []byte(id), Body: []byte("one")}
		if !do(id, jobFate{job.Queued, 0, "one", 0}, e) {
			return
		}
		if i%4 == 3 {
			e.Update, e.Body = true, []byte("two")
			if !do(id, jobFate{job.Queued, 0, "two", 0}, e) {
				return
			}
			continue
		}
		take := &Take{OnQueue: enginetest.On("jobs"), Max: 1, Lock: 1000 + int64(i)}
		// Take gets the first ready job, which may be an earlier one that was updated.
		first := l.next(i)
		if !do(first, jobFate{job.Locked, l.may[first][0].attempts + 1, l.may[first][0].body, now + take.Lock}, take) {
			return
		}
		if len(take.Jobs) != 1 || string(take.Jobs[0].ID) != first {
			t.Errorf("taken %+v, want %q", take.Jobs, first)
			return
		}
		j := take.Jobs[0]
		l.taken[first] = j
		body := l.may[first][0].body
		switch i % 4 {
		case 0:
			r := &Report{OnQueue: enginetest.On("jobs"), ID: j.ID, Token: j.Token, Outcome: Done, Backoff: 5000}
			if !do(first, jobFate{job.DoneWithBackoff, 1, "", now + 5000}, r) {
				return
			}
			e := &Enqueue{OnQueue: enginetest.On("jobs"), ID: j.ID, Body: []byte("three"), Requeue: true}
			if i == 8 && !do(first, jobFate{job.DoneWithRequeue, 1, "", now + 5000}, e) {
				return
			}
		case 1:
			r := &Report{OnQueue: enginetest.On("jobs"), ID: j.ID, Token: j.Token, Outcome: Retry, Backoff: 3000}
			if !do(first, jobFate{job.QueuedWithBackoff, 1, body, now + 3000}, r) {
				return
			}
		case 2:
			x := &Extend{OnQueue: enginetest.On("jobs"), ID: j.ID, Token: j.Token, Lock: 9000}
			if !do(first, jobFate{job.Locked, 1, body, now + 9000}, x) {
				return
			}
			e := &Enqueue{OnQueue: enginetest.On("jobs"), ID: j.ID, Body: []byte("behind"), Requeue: true}
			if i == 6 && !do(first, jobFate{job.LockedWithRequeue, 1, body, now + 9000}, e) {
				return
			}
		}
		l.clock.MS.Add(7)
		if i%5 == 4 {
			b.Checkpoint()
		}
	}
	l.full = true
}

// next returns the first queued id up to a number.
func (l *jobLife) next(upTo int) string {
	for i := range upTo + 1 {
		id := fmt.Sprint("j", i)
		if f := l.may[id]; len(f) > 0 && f[0].state == job.Queued {
			return id
		}
	}
	return ""
}

// check compares the state of every id with what was promised. Then it lets all leases end and
// handles every job.
func (l *jobLife) check(t *testing.T, b *broker.Broker) {
	t.Helper()
	c := jobClient{enginetest.NewClient(t, b), "jobs"}
	defer c.Close()
	if !c.HasQueue("jobs") {
		for id, may := range l.may {
			if len(may) == 1 || may[0].state != job.None {
				t.Errorf("the queue is gone with %q, %+v", id, may)
			}
		}
		return
	}
	now := l.clock.MS.Load()
	left := map[string]bool{}
	for id, may := range l.may {
		info := c.status(id)
		got := jobFate{info.State, info.Attempts, "", 0}
		if info.Backoff+info.Lock > 0 {
			got.until = now + info.Backoff + info.Lock
		}
		ok := false
		for _, want := range may {
			want.body = ""
			ok = ok || got == want
		}
		if !ok {
			t.Errorf("%q is %+v, want one of %+v", id, got, may)
		}
		if info.State != job.None && info.State != job.DoneWithBackoff {
			left[id] = true
		}
		if j, ok := l.taken[id]; ok && len(may) == 1 && may[0].state == job.Locked { // the token is still valid
			x := &Extend{OnQueue: enginetest.On("jobs"), ID: j.ID, Token: j.Token, Lock: 100}
			if enginetest.Must(t, c.Do(x)); x.Err != nil {
				t.Errorf("extend %q after the crash: %v", id, x.Err)
			}
		}
	}
	clock := l.clock.MS.Load()
	defer l.clock.MS.Store(clock)
	l.clock.MS.Add(100_000)
	for range 2 {
		for _, j := range c.take(100, 0) {
			if may := l.may[string(j.ID)]; len(may) == 1 && may[0].body != "" && j.Attempt > 1 && string(j.Env.Body()) != may[0].body {
				t.Errorf("%q has the content %q, want %q", j.ID, j.Env.Body(), may[0].body)
			}
			enginetest.Must(t, c.report(j, Done, 0))
			delete(left, string(j.ID))
		}
	}
	if len(left) > 0 {
		t.Errorf("never handled: %v", left)
	}
	if old, ok := l.taken["j2"]; ok {
		if err := c.report(old, Done, 0); !errors.Is(err, failure.ErrStale) {
			t.Errorf("a report from before: %v", err)
		}
	}
}

// TestJobsCrashAtEveryOperation crashes after each disk operation in turn: every answer still
// holds, including its times.
func TestJobsCrashAtEveryOperation(t *testing.T) {
	clock := enginetest.NewClock(1_000_000)
	options := func(o *broker.Options) { o.SegmentBytes, o.CheckpointBytes, o.Now = 4<<10, 512, clock.Now }
	var l *jobLife
	enginetest.CrashEverywhere(t, 2, func() enginetest.Life {
		clock.MS.Store(1_000_000)
		l = &jobLife{clock: clock, may: map[string][]jobFate{}, taken: map[string]Job{}}
		return enginetest.Life{
			Options: options,
			Live:    func(b *broker.Broker) { l.live(t, b) },
			Check:   func(b *broker.Broker) { l.check(t, b) },
		}
	})
	if !l.full {
		t.Fatal("the life did not come to its end")
	}
}
