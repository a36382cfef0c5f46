package jobs

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/schedule"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func steppedJobs(t *testing.T, change func(*catalog.QueueSpec)) (jobClient, *enginetest.Clock) {
	clock := enginetest.NewClock(1_000_000)
	b := openBroker(t, vfs.NewMem(), func(o *broker.Options) { o.Now, o.Shards = clock.Now, 1 })
	c := jobClient{enginetest.NewClient(t, b), "q"}
	t.Cleanup(func() {
		c.Close()
		enginetest.Close(t, b)
	})
	if change != nil {
		c.Queue("q", change)
	}
	return c, clock
}

// When a lease ends, a consumer of another protocol gets the job without any command, and so does a
// command that waits for one.
func TestLeaseEndsByItself(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c := jobClient{enginetest.NewClient(t, b), "q"}
	defer c.Close()
	c.mustEnqueue("a", "body", nil)
	c.takeOne(20)
	take := &Take{OnQueue: enginetest.On("q"), Max: 1, Lock: 20}
	if i, err := c.Await(context.Background(), take); i != 0 || err != nil || take.Err != nil || take.Jobs[0].Attempt != 2 {
		t.Fatalf("waited: %d, %v, %+v", i, err, take)
	}
	c.Consumes("q", nil)
	if d := c.Deliveries(1)[0]; d.Count != 2 || !d.Redelivered {
		t.Fatalf("delivered with count %d, redelivered %v", d.Count, d.Redelivered)
	}
	c.wantState("a", job.Locked)
	if _, err := c.enqueue("a", "next", func(e *Enqueue) { e.Requeue = true }); err != nil {
		t.Fatal(err)
	}
	var h queue.Handle
	var q *shard.Queue
	c.At("q", func(at shard.Context) { q, h = at.Queue(), at.Deliveries().Ends()[0]-2 }) // the first message
	c.Ack(q, nil, h, 1)
	c.Flush()
	if d := c.Deliveries(1)[0]; string(d.Env.Body()) != "next" { // the version behind comes next
		t.Fatalf("delivered %q", d.Env.Body())
	}
}

// A transient queue can be a job queue, too. A restart empties it.
func TestVolatileJobs(t *testing.T) {
	c, clock := steppedJobs(t, func(s *catalog.QueueSpec) { s.Durable = false })
	c.mustEnqueue("a", "1", nil)
	c.mustEnqueue("b", "1", nil)
	before, err := c.B.Hash()
	enginetest.Must(t, err)
	j := c.takeOne(100)
	c.mustEnqueue("a", "2", func(e *Enqueue) { e.Requeue = true })
	enginetest.Must(t, c.report(j, Done, 500))
	c.wantState("a", job.DoneWithRequeue)
	if upd, err := c.enqueue("b", "2", func(e *Enqueue) { e.Update = true }); !upd || err != nil {
		t.Fatal(upd, err)
	}
	enginetest.Must(t, c.report(c.takeOne(100), Retry, 200))
	c.wantState("b", job.QueuedWithBackoff)
	clock.MS.Add(500)
	if got := fmt.Sprint(jobTexts(c.take(9, 100))); got != "[b 2 2 a 2 1]" {
		t.Fatalf("taken %s", got)
	}
	if after, err := c.B.Hash(); err != nil || after != before {
		t.Fatalf("something about a volatile queue is in the log: %v", err)
	}
}

func jobTexts(jobs []Job) (out []string) {
	for _, j := range jobs {
		out = append(out, fmt.Sprintf("%s %s %d", j.ID, j.Env.Body(), j.Attempt))
	}
	return out
}

// A failed job is dead-lettered with the error text. One that expires while leased stays leased,
// and expires when it is returned.
func TestDeadJobs(t *testing.T) {
	c, clock := steppedJobs(t, func(s *catalog.QueueSpec) {
		s.Policy.DeadLetter, s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, true, "dead"
	})
	c.Queue("dead", nil)
	dead := func() (message.Table, string) {
		t.Helper()
		d, _, ok, err := c.Get("dead", true)
		if err != nil || !ok {
			t.Fatal("no dead letter", err)
		}
		headers, err := HeadersOf(d.Env)
		enginetest.Must(t, err)
		return headers, string(d.Env.Body())
	}
	c.mustEnqueue("a", "failing", func(e *Enqueue) { e.Headers = message.Table{{Name: "mine", Value: "kept"}} })
	c.mustEnqueue("a2", "", nil)
	j := c.takeOne(100)
	c.mustEnqueue("a", "next", func(e *Enqueue) { e.Requeue = true })
	enginetest.Must(t, c.report(j, Failed, 0))
	headers, body := dead()
	text, _ := headers.Get("x-error")
	reason, _ := headers.Get("x-first-death-reason")
	mine, _ := headers.Get("mine")
	if body != "failing" || text != "why" || reason != "rejected" || mine != "kept" {
		t.Fatalf("dead letter %q with %v", body, headers)
	}
	c.wantState("a", job.DoneWithRequeue)
	c.MustDo(&Clear{OnQueue: enginetest.On("q")})

	c.mustEnqueue("b", "short", func(e *Enqueue) { e.TTL = 50 })
	j = c.takeOne(1000)
	c.mustEnqueue("b", "longer", func(e *Enqueue) { e.Requeue, e.TTL = true, 500 })
	clock.MS.Add(100)
	enginetest.Sync(t, c.B)
	c.wantState("b", job.LockedWithRequeue)
	enginetest.Must(t, c.report(j, Retry, 0))
	enginetest.Sync(t, c.B) // one has expired, and the other has its full time left
	if _, body = dead(); body != "short" {
		t.Fatalf("dead letter %q", body)
	}
	clock.MS.Add(499)
	enginetest.Sync(t, c.B)
	c.wantState("b", job.Queued)
	clock.MS.Add(1)
	enginetest.Sync(t, c.B)
	if _, body = dead(); body != "longer" {
		t.Fatalf("dead letter %q", body)
	}
	c.wantState("b", job.None)
}

// A job that waits behind a locked one is shown to no worker, and counted separately.
func TestBehindIsHidden(t *testing.T) {
	c, _ := steppedJobs(t, nil)
	c.mustEnqueue("a", "1", nil)
	c.takeOne(100)
	c.mustEnqueue("a", "2", func(e *Enqueue) { e.Requeue = true })
	c.mustEnqueue("b", "3", func(e *Enqueue) { e.Backoff = 100 })
	waiting, err := schedule.OfQueue(c.Session, "q")
	enginetest.Must(t, err)
	n, err := waiting.Len()
	enginetest.Must(t, err)
	list, _, err := waiting.List(0, 10)
	enginetest.Must(t, err)
	status, err := inspect.Queue(c.Session, "q")
	enginetest.Must(t, err)
	if n != 1 || len(list) != 1 || list[0].MessageID != "b" || status.Scheduled != 1 {
		t.Fatalf("%d scheduled, %+v, status %d", n, list, status.Scheduled)
	}
	m, ok, err := inspect.Find(c.Session, "q", "a")
	if err != nil || !ok || string(m.Env.Body()) != "1" {
		t.Fatalf("found %q, %v", m.Env, err)
	}
	counts := &Counts{OnQueue: enginetest.On("q")}
	c.MustDo(counts)
	if counts.Behind != 1 || counts.Backoff != 1 || counts.Locked != 1 || counts.Queued != 0 {
		t.Fatalf("%+v", counts)
	}
}

// The duration of a lease is that of the job, of the Take, or the default.
func TestLockTimes(t *testing.T) {
	c, clock := steppedJobs(t, nil)
	c.mustEnqueue("own", "", func(e *Enqueue) { e.Lock = 70 })
	c.mustEnqueue("", "", nil)
	props := message.Properties{Flags: message.HasHeaders, Headers: message.Table{{Name: "x-lock-ms", Value: int32(33)}}}
	c.Post("", "q", "", props, nil)
	c.Flush()
	jobs := c.take(3, 500)
	if len(jobs) != 3 || jobs[0].Lock != 70 || jobs[1].Lock != 500 || jobs[2].Lock != 33 || len(jobs[1].ID) != 36 || string(jobs[2].ID) != "@3" {
		t.Fatalf("%+v", jobs)
	}
	clock.MS.Add(69)
	if left := c.status("own").Lock; left != 1 {
		t.Fatalf("%d ms left", left)
	}
	clock.MS.Add(1)
	if got := jobTexts(c.take(3, 0)); len(got) != 2 {
		t.Fatalf("taken %q", got)
	}
}

// Jobs from another system keep their history, here and after a crash.
func TestJobsFromElsewhere(t *testing.T) {
	for _, restart := range []bool{false, true} {
		cl := bring(t, job.None, false)
		now := cl.clock.MS.Load()
		cl.mustEnqueue("tried", "1", func(e *Enqueue) { e.Attempts, e.First = 4, 77 })
		cl.mustEnqueue("out", "2", func(e *Enqueue) { e.Attempts, e.First, e.LeasedUntil = 2, 78, now+300 })
		r := &Remember{OnQueue: enginetest.On("q"), ID: []byte("done"), Until: now + 900, Attempts: 3, First: 79}
		cl.MustDo(r)
		r.Until = now + 100 // the later time counts
		cl.MustDo(r)
		for _, id := range []string{"tried", "out"} {
			again := &Remember{OnQueue: enginetest.On("q"), ID: []byte(id), Until: now + 1}
			enginetest.Must(t, cl.Do(again))
			if want := map[string]error{"tried": failure.ErrAlreadyQueued, "out": failure.ErrLocked}[id]; !errors.Is(again.Err, want) {
				t.Fatalf("%q: %v", id, again.Err)
			}
		}
		if restart {
			cl.crash()
		}
		if info := cl.status("out"); info.State != job.Locked || info.Attempts != 2 || info.Lock != 300 {
			t.Fatalf("%+v", info)
		}
		if info := cl.status("done"); info.State != job.DoneWithBackoff || info.Attempts != 3 || info.Backoff != 900 || info.First != 79 {
			t.Fatalf("%+v", info)
		}
		j := cl.takeOne(10_000)
		if string(j.ID) != "tried" || j.Attempt != 5 || j.First != 77 {
			t.Fatalf("%+v", j)
		}
		cl.clock.MS.Add(300)
		j = cl.takeOne(10_000)
		if string(j.ID) != "out" || j.Attempt != 3 || j.First != 78 {
			t.Fatalf("%+v", j)
		}
		if upd, err := cl.enqueue("done", "again", func(e *Enqueue) { e.Requeue = true }); upd || err != nil {
			t.Fatal(upd, err)
		}
		cl.wantState("done", job.DoneWithRequeue)
		cl.end()
	}
}

// A queue full of messages becomes a job queue with the first job command, whether the messages are
// in memory or on disk.
func TestManyMessagesBecomeJobs(t *testing.T) {
	mem := vfs.NewMem()
	options := func(o *broker.Options) { o.MemoryLimit, o.SegmentBytes = 64<<10, 64<<10 }
	b := openBroker(t, mem, options)
	c := jobClient{enginetest.NewClient(t, b), "q"}
	c.Queue("q", nil)
	const n = 3000
	for i := range n {
		props := message.Properties{Flags: message.HasMessageID | message.HasDeliveryMode, DeliveryMode: 2, MessageID: fmt.Sprint("id", i)}
		c.Post("", "q", fmt.Sprint("body ", i), props, nil)
	}
	c.Flush()
	for range 2 {
		c.wantState("id2999", job.Queued)
		c.wantState("id3000", job.None)
		if _, err := c.enqueue("id1500", "", nil); !errors.Is(err, failure.ErrAlreadyQueued) {
			t.Fatal(err)
		}
		seen := 0
		content := &Content{OnQueue: enginetest.On("q"), Max: 100}
		for more := true; more; more = content.Next != "" {
			content.Cursor = content.Next
			c.MustDo(content)
			for _, info := range content.Jobs {
				if string(info.ID) != fmt.Sprint("id", seen) || info.State != job.Queued {
					t.Fatalf("%d is %q %v", seen, info.ID, info.State)
				}
				seen++
			}
		}
		if seen != n {
			t.Fatalf("%d listed", seen)
		}
		c.Close()
		enginetest.Close(t, b)
		b = openBroker(t, mem, options)
		c.Client = enginetest.NewClient(t, b)
	}
	enginetest.Close(t, b)
}

// An Enqueue to a full queue fails, and a queue that drops its head drops jobs, too.
func TestFullQueueOfJobs(t *testing.T) {
	c, _ := steppedJobs(t, func(s *catalog.QueueSpec) { s.Policy.MaxLength, s.Policy.Overflow = 1, catalog.RejectPublish })
	c.mustEnqueue("a", "", nil)
	if _, err := c.enqueue("b", "", nil); !errors.Is(err, failure.ErrRejected) {
		t.Fatal(err)
	}
	c.wantState("b", job.None)
	c.takeOne(100)
	c.mustEnqueue("b", "", nil)
	d := jobClient{c.Client, "drops"}
	d.Queue("drops", func(s *catalog.QueueSpec) { s.Policy.MaxLength = 1 })
	d.mustEnqueue("a", "", nil)
	d.mustEnqueue("b", "", nil)
	d.wantState("a", job.None)
	d.wantState("b", job.Queued)
}

// Streams are not job queues, and an id has a maximum length.
func TestNoJobs(t *testing.T) {
	c, _ := steppedJobs(t, nil)
	if _, err := c.enqueue(fmt.Sprintf("%0256d", 0), "", nil); !errors.Is(err, failure.ErrTooLarge) {
		t.Fatal(err)
	}
	take := &Take{OnQueue: enginetest.On("nowhere")}
	enginetest.Must(t, c.Do(take))
	if !errors.Is(take.Err, failure.ErrQueueNotFound) {
		t.Fatal(take.Err)
	}
	for _, text := range []string{"", "1", "1-", "-1", "a-1", "1-1-1", "1--1", "18446744073709551616-1"} {
		if token, ok := ParseToken([]byte(text)); ok {
			t.Errorf("%q is the token %v", text, token)
		}
	}
	want := Token{1 << 60, 1 << 40}
	if got, ok := ParseToken([]byte(want.String())); !ok || got != want {
		t.Errorf("token %v became %v", want, got)
	}
}

// Clear also removes jobs that became ready because it removed those that they waited for.
func TestClearRemovesWhatItUnblocks(t *testing.T) {
	c, _ := steppedJobs(t, func(s *catalog.QueueSpec) { s.Policy.ConsumeAfter = true })
	for _, leased := range []int{0, 1} {
		ids := []string{"a", "b", "c", "d", "e"}
		for i, id := range ids {
			c.mustEnqueue(id, "", func(e *Enqueue) {
				if i > 0 {
					e.Headers = message.Table{{Name: "consume_after", Value: ids[i-1]}}
				}
			})
		}
		if leased > 0 {
			c.takeOne(0)
		}
		cleared := &Clear{OnQueue: enginetest.On("q")}
		c.MustDo(cleared)
		counts := &Counts{OnQueue: enginetest.On("q")}
		c.MustDo(counts)
		if left := counts.Queued + counts.Locked + counts.Backoff; cleared.Cleared != len(ids) || left != 0 {
			t.Errorf("%d leased: %d cleared, %d left", leased, cleared.Cleared, left)
		}
	}
}
