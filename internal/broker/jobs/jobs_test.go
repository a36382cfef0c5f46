package jobs

import (
	"errors"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/streams"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// openBroker opens a broker with job support.
func openBroker(t testing.TB, fs vfs.FS, change func(*broker.Options)) *broker.Broker {
	t.Helper()
	b := enginetest.Open(t, fs, change)
	Resume(b)
	return b
}

// addTo is a command that adds an entry to a stream.
func addTo(name string) broker.Command {
	return &streams.Add{
		OnStream: streams.OnStream{OnQueue: enginetest.On(name)}, Create: true, Properties: []byte{0, 0}, Body: []byte("x"),
	}
}

// jobClient runs commands on the jobs of one queue.
type jobClient struct {
	*enginetest.Client
	q string
}

func (c jobClient) enqueue(id, body string, change func(*Enqueue)) (updated bool, err error) {
	c.T.Helper()
	e := &Enqueue{OnQueue: enginetest.On(c.q), ID: []byte(id), Body: []byte(body)}
	if change != nil {
		change(e)
	}
	enginetest.Must(c.T, c.Do(e))
	return e.Updated, e.Err
}

func (c jobClient) mustEnqueue(id, body string, change func(*Enqueue)) {
	c.T.Helper()
	_, err := c.enqueue(id, body, change)
	enginetest.Must(c.T, err)
}

func (c jobClient) take(n int, lock int64) []Job {
	c.T.Helper()
	k := &Take{OnQueue: enginetest.On(c.q), Max: n, Lock: lock}
	c.MustDo(k)
	return k.Jobs
}

// takeOne takes a job, which must exist.
func (c jobClient) takeOne(lock int64) Job {
	c.T.Helper()
	jobs := c.take(1, lock)
	if len(jobs) != 1 {
		c.T.Fatalf("%d jobs taken", len(jobs))
	}
	return jobs[0]
}

func (c jobClient) report(j Job, o Outcome, backoff int64) error {
	c.T.Helper()
	r := &Report{OnQueue: enginetest.On(c.q), ID: j.ID, Token: j.Token, Outcome: o, Backoff: backoff, Error: []byte("why")}
	enginetest.Must(c.T, c.Do(r))
	return r.Err
}

func (c jobClient) status(id string) Info {
	c.T.Helper()
	s := &Status{OnQueue: enginetest.On(c.q), ID: []byte(id)}
	c.MustDo(s)
	return s.Info
}

func (c jobClient) wantState(id string, want job.State) {
	c.T.Helper()
	if got := c.status(id).State; got != want {
		c.T.Fatalf("%q is %v, want %v", id, got, want)
	}
}

// The life of a job: enqueued, taken, done, and gone.
func TestJob(t *testing.T) {
	clock := enginetest.NewClock(1_000_000)
	b := openBroker(t, vfs.NewMem(), func(o *broker.Options) { o.Now = clock.Now })
	defer enginetest.Close(t, b)
	c := jobClient{enginetest.NewClient(t, b), "jobs"}
	defer c.Close()
	c.mustEnqueue("a", "body", nil)
	c.wantState("a", job.Queued)
	if _, err := c.enqueue("a", "other", nil); !errors.Is(err, failure.ErrAlreadyQueued) {
		t.Fatal(err)
	}
	clock.MS.Add(10)
	j := c.takeOne(500)
	if string(j.ID) != "a" || string(j.Env.Body()) != "body" || j.Attempt != 1 || j.Lock != 500 || j.First != 1_000_000 {
		t.Fatalf("took %+v", j)
	}
	c.wantState("a", job.Locked)
	if len(c.take(1, 500)) > 0 {
		t.Fatal("a leased job was taken")
	}
	enginetest.Must(t, c.report(j, Done, 0))
	c.wantState("a", job.DoneAwaitingGC)
	if err := c.report(j, Done, 0); !errors.Is(err, failure.ErrStale) {
		t.Fatal(err)
	}
	if len(c.take(1, 500)) > 0 {
		t.Fatal("a job was taken that is done")
	}
	c.wantState("a", job.None)
}
