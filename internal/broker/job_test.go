package broker

import (
	"errors"
	"testing"

	"fiveways/internal/core/job"
	"fiveways/internal/storage/vfs"
)

// jobClient does commands about the jobs of one queue.
type jobClient struct {
	*client
	q string
}

func (c jobClient) enqueue(id, body string, change func(*Enqueue)) (updated bool, err error) {
	c.t.Helper()
	e := &Enqueue{OnQueue: on(c.q), ID: []byte(id), Body: []byte(body)}
	if change != nil {
		change(e)
	}
	must(c.t, c.Do(e))
	return e.Updated, e.Err
}

func (c jobClient) mustEnqueue(id, body string, change func(*Enqueue)) {
	c.t.Helper()
	_, err := c.enqueue(id, body, change)
	must(c.t, err)
}

func (c jobClient) take(n int, lock int64) []Job {
	c.t.Helper()
	k := &Take{OnQueue: on(c.q), Max: n, Lock: lock}
	c.do(k)
	return k.Jobs
}

// takeOne takes a job that must be there.
func (c jobClient) takeOne(lock int64) Job {
	c.t.Helper()
	jobs := c.take(1, lock)
	if len(jobs) != 1 {
		c.t.Fatalf("%d jobs taken", len(jobs))
	}
	return jobs[0]
}

func (c jobClient) report(j Job, o Outcome, backoff int64) error {
	c.t.Helper()
	r := &Report{OnQueue: on(c.q), ID: j.ID, Token: j.Token, Outcome: o, Backoff: backoff, Error: []byte("why")}
	must(c.t, c.Do(r))
	return r.Err
}

func (c jobClient) status(id string) JobInfo {
	c.t.Helper()
	s := &JobStatus{OnQueue: on(c.q), ID: []byte(id)}
	c.do(s)
	return s.JobInfo
}

func (c jobClient) wantState(id string, want job.State) {
	c.t.Helper()
	if got := c.status(id).State; got != want {
		c.t.Fatalf("%q is %v, want %v", id, got, want)
	}
}

// The way of a job: enqueued, taken, done, and gone.
func TestJob(t *testing.T) {
	clock := newClock(1_000_000)
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Now = clock.Now })
	defer mustClose(t, b)
	c := jobClient{newClient(t, b), "jobs"}
	defer c.Close()
	c.mustEnqueue("a", "body", nil)
	c.wantState("a", job.Queued)
	if _, err := c.enqueue("a", "other", nil); !errors.Is(err, ErrAlreadyQueued) {
		t.Fatal(err)
	}
	clock.ms.Add(10)
	j := c.takeOne(500)
	if string(j.ID) != "a" || string(j.Env.Body()) != "body" || j.Attempt != 1 || j.Lock != 500 || j.First != 1_000_000 {
		t.Fatalf("took %+v", j)
	}
	c.wantState("a", job.Locked)
	if len(c.take(1, 500)) > 0 {
		t.Fatal("a leased job was taken")
	}
	must(t, c.report(j, JobDone, 0))
	c.wantState("a", job.DoneAwaitingGC)
	if err := c.report(j, JobDone, 0); !errors.Is(err, ErrStale) {
		t.Fatal(err)
	}
	if len(c.take(1, 500)) > 0 {
		t.Fatal("a job was taken that is done")
	}
	c.wantState("a", job.None)
}
