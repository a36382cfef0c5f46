package jobs

import (
	"errors"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// A take of several queues leases from the first that has a job, whatever their shards.
func TestTakeOfQueuesOnTwoShards(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	here, there := enginetest.TwoShards(t, c)
	defer c.Close()
	for _, name := range []string{here, there} {
		c.MustDo(&Enqueue{OnQueue: enginetest.On(name), ID: []byte("of " + name)})
	}
	for _, names := range [][2]string{{there, here}, {there, here}, {here, there}} {
		first := &Take{OnQueue: enginetest.On(names[0]), Max: 1}
		second := &Take{OnQueue: enginetest.On(names[1]), Max: 1, Unless: first}
		c.MustDo(first, second)
		if n := len(first.Jobs) + len(second.Jobs); n > 1 {
			t.Fatalf("%d jobs are leased by one take of %q", n, names)
		}
	}
}

// A token does not match a lease of a new queue with the same name.
func TestTokenOfADeletedQueue(t *testing.T) {
	c, _ := steppedJobs(t, nil)
	c.mustEnqueue("a", "", nil)
	old := c.takeOne(1000)
	if _, err := c.DeleteQueue("q", false, false); err != nil {
		t.Fatal(err)
	}
	c.mustEnqueue("a", "", nil)
	c.takeOne(1000)
	if err := c.report(old, Done, 0); err == nil {
		t.Fatal("a report from before the deletion has ended the lease of another worker")
	}
}

// A lease holds the group of its job, also after a crash and for a job from another system.
func TestLeasesHoldGroups(t *testing.T) {
	c := &cell{clock: enginetest.NewClock(cellStart), fs: vfs.NewMem()}
	c.jobClient = jobClient{enginetest.NewClient(t, openBroker(t, c.fs, func(o *broker.Options) { o.Now = c.clock.Now })), "q"}
	c.Queue("q", func(s *catalog.QueueSpec) { s.Policy.GroupHeader = "key" })
	of := func(group string) func(*Enqueue) {
		return func(e *Enqueue) { e.Headers = message.Table{{Name: "key", Value: group}} }
	}
	c.mustEnqueue("a1", "", of("a"))
	c.mustEnqueue("a2", "", of("a"))
	c.mustEnqueue("b1", "", func(e *Enqueue) { of("b")(e); e.Attempts, e.LeasedUntil = 1, cellStart+cellLock })
	c.mustEnqueue("b2", "", of("b"))
	first := c.takeOne(cellLock)
	for range 2 {
		if got := c.take(9, cellLock); len(got) > 0 {
			t.Fatalf("taken %q from a group that is held", jobTexts(got))
		}
		c.crash()
	}
	enginetest.Must(t, c.report(first, Done, 0))
	if got := c.takeOne(3 * cellLock); string(got.ID) != "a2" {
		t.Fatalf("taken %q", got.ID)
	}
	c.clock.MS.Add(cellLock)
	if got := c.takeOne(cellLock); string(got.ID) != "b1" {
		t.Fatalf("taken %q", got.ID)
	}
	c.end()
}

// A job that was enqueued again after it was done can be cancelled. The remembered result of its id
// stays.
func TestCancelOfARequeued(t *testing.T) {
	for _, backoff := range []int64{0, 1000} {
		c, _ := steppedJobs(t, nil)
		c.mustEnqueue("a", "1", nil)
		enginetest.Must(t, c.report(c.takeOne(100), Done, backoff))
		was := c.status("a").State
		c.mustEnqueue("a", "2", func(e *Enqueue) { e.Requeue = true })
		c.wantState("a", job.DoneWithRequeue)
		cancel := &Cancel{OnQueue: enginetest.On("q"), ID: []byte("a")}
		if c.MustDo(cancel); !cancel.Cancelled {
			t.Fatal("not cancelled")
		}
		c.wantState("a", was)
	}
}

// A job command that is refused, or only counts, does not turn a queue into a job queue: it can
// still be a stream, and its messages are not read.
func TestCommandsThatMakeNoJobs(t *testing.T) {
	c, _ := steppedJobs(t, nil)
	c.MustDo(addTo("stream"))
	for _, k := range []broker.Command{
		&Status{OnQueue: enginetest.On("stream"), ID: []byte("a")}, &Enqueue{OnQueue: enginetest.On("stream")}, &Take{OnQueue: enginetest.On("stream")}, &Counts{OnQueue: enginetest.On("stream")},
	} {
		enginetest.Must(t, c.Do(k))
		if err := k.Failure(); !errors.Is(err, failure.ErrWrongKind) {
			t.Fatalf("%T: %v", k, err)
		}
	}
	c.MustDo(&broker.Clear{OnQueue: enginetest.On("stream")}, addTo("stream"))

	c.Queue("list", nil)
	c.Put("list", "m", nil)
	counts := &Counts{OnQueue: enginetest.On("list")}
	if c.MustDo(counts); counts.Queued != 1 {
		t.Fatalf("%+v", counts)
	}
	c.MustDo(&broker.Clear{OnQueue: enginetest.On("list")}, addTo("list"))
}

// A job that was done without a backoff can be enqueued again at once, even if the clock was set
// back.
func TestClockSetBackAfterDone(t *testing.T) {
	c, clock := steppedJobs(t, nil)
	c.mustEnqueue("a", "", nil)
	enginetest.Must(t, c.report(c.takeOne(100), Done, 0))
	clock.MS.Add(-500)
	c.wantState("a", job.DoneAwaitingGC)
	c.mustEnqueue("a", "", nil)
	c.takeOne(100)
}
