package jobs

import (
	"errors"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/streams"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/stream"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// plain takes messages of the queue, which does not make them jobs.
func (c jobClient) plain(n int) []Job {
	c.T.Helper()
	k := &Take{OnQueue: enginetest.On(c.q), Max: n, Lock: 60_000, Plain: true}
	c.MustDo(k)
	return k.Jobs
}

// wantJobs checks whether the queue is listed as a job queue.
func (c jobClient) wantJobs(when string, want bool) {
	c.T.Helper()
	st, err := inspect.Queue(c.Session, c.q)
	enginetest.Must(c.T, err)
	sampled := false
	var sample inspect.Sample
	enginetest.Must(c.T, inspect.NewSampler(c.B).Sample(&sample))
	for _, q := range sample.Queues {
		sampled = sampled || q.Name == c.q && q.Jobs != nil
	}
	if st.Jobs != want || sampled != want {
		c.T.Errorf("%s it is used for jobs: %v, in samples %v; want %v", when, st.Jobs, sampled, want)
	}
}

// Taking a message with a lease does not turn its queue into a job queue, before or after a
// restart. The lease holds all the same.
func TestPlainTakeMakesNoJobs(t *testing.T) {
	mem := vfs.NewMem()
	b := openBroker(t, mem, nil)
	c := jobClient{enginetest.NewClient(t, b), "q"}
	c.Queue("q", nil)
	for _, body := range []string{"a", "b", "c", "d"} {
		c.Put("q", body, nil)
	}
	taken := c.plain(3)
	if len(taken) != 3 {
		t.Fatalf("%d were taken", len(taken))
	}
	enginetest.Must(t, c.report(taken[0], Done, 0))
	c.status("x")
	c.wantJobs("after a plain take", false)
	reopen := func() {
		c.Close()
		enginetest.Close(t, b)
		b = openBroker(t, mem, nil)
		c = jobClient{enginetest.NewClient(t, b), "q"}
	}
	reopen()
	c.wantJobs("after a restart", false)
	if left := c.plain(9); len(left) != 1 || string(left[0].Env.Body()) != "d" {
		t.Fatalf("%d could be taken after a restart", len(left))
	}
	enginetest.Must(t, c.report(taken[1], Done, 0))
	enginetest.Must(t, c.report(taken[2], Done, 1000)) // a remembered id belongs to a job
	c.wantJobs("with an id that is remembered", true)
	reopen()
	c.wantJobs("after another restart", true)
	c.Close()
	enginetest.Close(t, b)
}

// Each of the job commands turns the queue into a job queue permanently.
func TestJobsAreUse(t *testing.T) {
	for name, use := range map[string]broker.Command{
		"a take": &Take{OnQueue: enginetest.On("q")}, "an enqueue": &Enqueue{OnQueue: enginetest.On("q"), ID: []byte("a")},
		"an id to remember": &Remember{OnQueue: enginetest.On("q"), ID: []byte("a"), Until: 1 << 50},
	} {
		mem := vfs.NewMem()
		b := openBroker(t, mem, nil)
		c := jobClient{enginetest.NewClient(t, b), "q"}
		c.Queue("q", nil)
		c.plain(1)
		c.wantJobs("before "+name, false)
		c.MustDo(use)
		c.wantJobs("after "+name, true)
		c.Close()
		enginetest.Close(t, b)
		b = openBroker(t, mem, nil)
		c = jobClient{enginetest.NewClient(t, b), "q"}
		c.wantJobs("after "+name+" and a restart", true)
		c.Close()
		enginetest.Close(t, b)
	}
}

// An empty queue of which messages were taken can become a stream like any other, and is then no
// job queue.
func TestStreamAfterPlainTake(t *testing.T) {
	mem := vfs.NewMem()
	b := openBroker(t, mem, nil)
	c := jobClient{enginetest.NewClient(t, b), "q"}
	c.Queue("q", nil)
	c.Put("q", "a", nil)
	enginetest.Must(t, c.report(c.plain(1)[0], Done, 0))
	c.MustDo(addTo("q"))
	c.Put("q", "y", nil)
	refuses := func(when string) {
		t.Helper()
		for _, k := range []broker.Command{&Take{OnQueue: enginetest.On("q"), Plain: true}, &Take{OnQueue: enginetest.On("q")}, &Enqueue{OnQueue: enginetest.On("q")}, &Status{OnQueue: enginetest.On("q"), ID: []byte("a")}} {
			enginetest.Must(t, c.Do(k))
			if err := k.Failure(); !errors.Is(err, failure.ErrWrongKind) {
				t.Errorf("%s, %T of a stream: %v", when, k, err)
			}
		}
		entries := &streams.Range{OnStream: streams.OnStream{OnQueue: enginetest.On("q")}, To: stream.MaxID}
		c.MustDo(entries)
		if n := len(entries.Entries); n != 2 {
			t.Errorf("%s the stream has %d entries", when, n)
		}
		c.wantJobs(when, false)
	}
	refuses("at first")
	c.Close()
	enginetest.Close(t, b)
	b = openBroker(t, mem, nil)
	defer enginetest.Close(t, b)
	c = jobClient{enginetest.NewClient(t, b), "q"}
	defer c.Close()
	refuses("after a restart")
	c.MustDo(&broker.Clear{OnQueue: enginetest.On("q")})
	c.Put("q", "b", nil)
	if taken := c.plain(2); len(taken) != 1 || string(taken[0].Env.Body()) != "b" {
		t.Errorf("%d were taken when it was a queue again", len(taken))
	}
	c.mustEnqueue("job", "", nil)
	c.wantJobs("at last", true)
	c.Put("q", "", nil)
}
