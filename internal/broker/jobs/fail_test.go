package jobs

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestFailedJobsArriveAfterACrash crashes after each disk operation in turn. A job whose failure
// was answered is not taken again, and its dead letter arrives, although it goes to another shard.
func TestFailedJobsArriveAfterACrash(t *testing.T) {
	for _, sure := range []bool{false, true} {
		for k := 1; ; k++ {
			mem := vfs.NewMem()
			fs := vfs.NewErrors(mem)
			fs.CrashAt(k)
			failed := false
			b, err := enginetest.TryOpen(fs, func(*broker.Options) {})
			if err == nil {
				failed = failOne(t, b, sure)
				b.Close() // fails after the crash
			}
			for seed := range uint64(2) {
				again, err := enginetest.TryOpen(mem.CrashClone(rand.New(rand.NewPCG(uint64(k), seed))), func(*broker.Options) {})
				enginetest.Must(t, err)
				if failed {
					checkFailed(t, again)
				}
				enginetest.Close(t, again)
				if t.Failed() {
					t.Fatalf("sure %v, crash at operation %d, disk %d", sure, k, seed)
				}
			}
			if !fs.Crashed() {
				if !failed {
					t.Fatal("nothing failed")
				}
				break
			}
		}
	}
}

// failOne reports the failure of a job, and returns whether the report was answered.
func failOne(t *testing.T, b *broker.Broker, sure bool) bool {
	c := enginetest.NewClient(t, b)
	policy := catalog.DefaultQueuePolicy()
	if _, err := c.DeclareQueue(catalog.QueueSpec{Name: "dead", Durable: true, Policy: policy}); err != nil {
		return false
	}
	policy.DeadLetter, policy.HasDeadLetterKey, policy.DeadLetterKey, policy.AtLeastOnce = true, true, "dead", sure
	policy.Overflow = catalog.RejectPublish
	if _, err := c.DeclareQueue(catalog.QueueSpec{Name: "q", Durable: true, Policy: policy}); err != nil {
		return false
	}
	e := &Enqueue{OnQueue: enginetest.On("q"), ID: []byte("a")}
	take := &Take{OnQueue: enginetest.On("q")}
	if c.Do(e) != nil || e.Err != nil || c.Do(take) != nil || take.Err != nil {
		return false
	}
	r := &Report{OnQueue: enginetest.On("q"), ID: []byte("a"), Token: take.Jobs[0].Token, Outcome: Failed, Error: []byte("why")}
	return c.Do(r) == nil && r.Err == nil
}

func checkFailed(t *testing.T, b *broker.Broker) {
	t.Helper()
	c := jobClient{enginetest.NewClient(t, b), "q"}
	defer c.Close()
	shards := map[uint32]bool{}
	for _, name := range []string{"q", "dead"} {
		c.At(name, func(at shard.Context) { shards[at.Shard()] = true })
	}
	if len(shards) != 2 {
		t.Fatal("the queues lie on one shard")
	}
	c.wantState("a", job.None)
	n := 0
	for end := time.Now().Add(10 * time.Second); n == 0 && time.Now().Before(end); {
		c.At("dead", func(at shard.Context) { n = at.Deliveries().Ready() })
	}
	d, _, ok, err := c.Get("dead", true)
	if err != nil || !ok {
		t.Errorf("no dead letter: %v", err)
		return
	}
	headers, err := HeadersOf(d.Env)
	enginetest.Must(t, err)
	if text, _ := headers.Get("x-error"); fmt.Sprint(text) != "why" {
		t.Errorf("dead letter with %v", headers)
	}
	for out := 1; out > 0; { // until the dead letter is settled
		c.At("q", func(at shard.Context) { out = at.Deliveries().Unacked() })
	}
	if jobs := c.take(1, 0); len(jobs) > 0 {
		t.Errorf("taken again: %+v", jobs)
	}
}

// TestLongErrorIsCut: an error text becomes a header of the dead letter, which must fit into an
// AMQP frame.
func TestLongErrorIsCut(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	policy := catalog.DefaultQueuePolicy()
	_, err := c.DeclareQueue(catalog.QueueSpec{Name: "dead", Durable: true, Policy: policy})
	enginetest.Must(t, err)
	policy.DeadLetter, policy.HasDeadLetterKey, policy.DeadLetterKey = true, true, "dead"
	_, err = c.DeclareQueue(catalog.QueueSpec{Name: "q", Durable: true, Policy: policy})
	enginetest.Must(t, err)
	take := &Take{OnQueue: enginetest.On("q"), Max: 1}
	enginetest.Must(t, c.Do(&Enqueue{OnQueue: enginetest.On("q"), ID: []byte("a")}, take))
	enginetest.Must(t, take.Err)
	report := &Report{OnQueue: enginetest.On("q"), ID: []byte("a"), Token: take.Jobs[0].Token, Outcome: Failed, Error: []byte("x" + strings.Repeat("é", 1<<20))}
	enginetest.Must(t, c.Do(report))
	enginetest.Must(t, report.Err)
	wait := &Take{OnQueue: enginetest.On("dead"), Max: 1}
	i, err := c.Await(t.Context(), wait)
	enginetest.Must(t, err)
	if i != 0 || wait.Err != nil {
		t.Fatal(i, wait.Err)
	}
	headers, err := HeadersOf(wait.Jobs[0].Env)
	enginetest.Must(t, err)
	text, _ := headers.Get("x-error")
	if s, ok := text.(string); !ok || len(s) > maxError || len(s) < maxError-4 || !utf8.ValidString(s) {
		t.Errorf("%d bytes, valid %v", len(s), utf8.ValidString(s))
	}
}
