package broker

import (
	"errors"
	"testing"

	"fiveways/internal/core/job"
	"fiveways/internal/core/message"
	"fiveways/internal/storage/vfs"
)

// A take of several queues leases from the first that has something, wherever the others are.
func TestTakeOfQueuesOnTwoShards(t *testing.T) {
	b, c, here, there := twoShards(t, vfs.NewMem())
	defer mustClose(t, b)
	defer c.Close()
	for _, name := range []string{here, there} {
		c.do(&Enqueue{OnQueue: on(name), ID: []byte("of " + name)})
	}
	for _, names := range [][2]string{{there, here}, {there, here}, {here, there}} {
		first := &Take{OnQueue: on(names[0]), Max: 1}
		second := &Take{OnQueue: on(names[1]), Max: 1, Unless: first}
		c.do(first, second)
		if n := len(first.Jobs) + len(second.Jobs); n > 1 {
			t.Fatalf("%d jobs are leased by one take of %q", n, names)
		}
	}
}

// The token of a lease names no lease of a queue that takes the place of its own.
func TestTokenOfADeletedQueue(t *testing.T) {
	c, _ := steppedJobs(t, nil)
	c.mustEnqueue("a", "", nil)
	old := c.takeOne(1000)
	if _, err := c.DeleteQueue("q", false, false); err != nil {
		t.Fatal(err)
	}
	c.mustEnqueue("a", "", nil)
	c.takeOne(1000)
	if err := c.report(old, JobDone, 0); err == nil {
		t.Fatal("a report from before the deletion has ended the lease of another worker")
	}
}

// Who leased a job holds its group, also after a crash and when the lease comes from elsewhere.
func TestLeasesHoldGroups(t *testing.T) {
	c := &cell{clock: newClock(cellStart), fs: vfs.NewMem()}
	c.jobClient = jobClient{newClient(t, openBroker(t, c.fs, func(o *Options) { o.Now = c.clock.Now })), "q"}
	c.queue("q", grouped)
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
	must(t, c.report(first, JobDone, 0))
	if got := c.takeOne(3 * cellLock); string(got.ID) != "a2" {
		t.Fatalf("taken %q", got.ID)
	}
	c.clock.ms.Add(cellLock)
	if got := c.takeOne(cellLock); string(got.ID) != "b1" {
		t.Fatalf("taken %q", got.ID)
	}
	c.end()
}

// A job that is queued again after it was done can be cancelled; what is remembered of its id stays.
func TestCancelOfARequeued(t *testing.T) {
	for _, backoff := range []int64{0, 1000} {
		c, _ := steppedJobs(t, nil)
		c.mustEnqueue("a", "1", nil)
		must(t, c.report(c.takeOne(100), JobDone, backoff))
		was := c.status("a").State
		c.mustEnqueue("a", "2", func(e *Enqueue) { e.Requeue = true })
		c.wantState("a", job.DoneWithRequeue)
		cancel := &Cancel{OnQueue: on("q"), ID: []byte("a")}
		if c.do(cancel); !cancel.Cancelled {
			t.Fatal("not cancelled")
		}
		c.wantState("a", was)
	}
}

// A command about jobs that is refused, or only counts, leaves a queue what it is: it can be a stream, and its messages are not read.
func TestCommandsThatMakeNoJobs(t *testing.T) {
	c, _ := steppedJobs(t, nil)
	c.do(newAdd("stream", 1, "x"))
	for _, k := range []Command{
		&JobStatus{OnQueue: on("stream"), ID: []byte("a")}, &Enqueue{OnQueue: on("stream")}, &Take{OnQueue: on("stream")}, &JobCounts{OnQueue: on("stream")},
	} {
		must(t, c.Do(k))
		if err := k.on().Err; !errors.Is(err, ErrWrongKind) {
			t.Fatalf("%T: %v", k, err)
		}
	}
	c.do(&Clear{OnQueue: on("stream")}, newAdd("stream", 2, "x"))

	c.queue("list", nil)
	c.put("", "list", "m", nil)
	counts := &JobCounts{OnQueue: on("list")}
	if c.do(counts); counts.Queued != 1 {
		t.Fatalf("%+v", counts)
	}
	c.do(&Clear{OnQueue: on("list")}, newAdd("list", 1, "x"))
}

// A job that was done without a backoff can be enqueued again at once, also when the clock is set back.
func TestClockSetBackAfterDone(t *testing.T) {
	c, clock := steppedJobs(t, nil)
	c.mustEnqueue("a", "", nil)
	must(t, c.report(c.takeOne(100), JobDone, 0))
	clock.ms.Add(-500)
	c.wantState("a", job.DoneAwaitingGC)
	c.mustEnqueue("a", "", nil)
	c.takeOne(100)
}
