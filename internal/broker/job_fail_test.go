package broker

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fiveways/internal/core/job"
	"fiveways/internal/storage/vfs"
)

// TestFailedJobsArriveAfterACrash makes each operation on the disk in turn the last one: a job whose failure was answered is not taken again, and its
// dead letter arrives, though it goes to another shard.
func TestFailedJobsArriveAfterACrash(t *testing.T) {
	for _, sure := range []bool{false, true} {
		for k := 1; ; k++ {
			mem := vfs.NewMem()
			fs := vfs.NewErrors(mem)
			fs.CrashAt(k)
			failed := false
			b, err := tryOpen(fs, func(*Options) {})
			if err == nil {
				failed = failOne(t, b, sure)
				b.Close() // fails after the crash
			}
			for seed := range uint64(2) {
				again, err := tryOpen(mem.CrashClone(rand.New(rand.NewPCG(uint64(k), seed))), func(*Options) {})
				must(t, err)
				if failed {
					checkFailed(t, again)
				}
				mustClose(t, again)
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

// failOne has a job fail, and tells whether that was answered.
func failOne(t *testing.T, b *Broker, sure bool) bool {
	c := newClient(t, b)
	policy := DefaultQueuePolicy()
	if _, err := c.DeclareQueue(QueueSpec{Name: "dead", Durable: true, Policy: policy}); err != nil {
		return false
	}
	policy.DeadLetter, policy.HasDeadLetterKey, policy.DeadLetterKey, policy.AtLeastOnce = true, true, "dead", sure
	policy.Overflow = RejectPublish
	if _, err := c.DeclareQueue(QueueSpec{Name: "q", Durable: true, Policy: policy}); err != nil {
		return false
	}
	e := &Enqueue{OnQueue: on("q"), ID: []byte("a")}
	take := &Take{OnQueue: on("q")}
	if c.Do(e) != nil || e.Err != nil || c.Do(take) != nil || take.Err != nil {
		return false
	}
	r := &Report{OnQueue: on("q"), ID: []byte("a"), Token: take.Jobs[0].Token, Outcome: JobFailed, Error: []byte("why")}
	return c.Do(r) == nil && r.Err == nil
}

func checkFailed(t *testing.T, b *Broker) {
	t.Helper()
	c := jobClient{newClient(t, b), "q"}
	defer c.Close()
	q, _ := c.vhost.queue("q")
	dead, _ := c.vhost.queue("dead")
	if q.shard == dead.shard {
		t.Fatal("the queues lie on one shard")
	}
	c.wantState("a", job.None)
	n := 0
	for end := time.Now().Add(10 * time.Second); n == 0 && time.Now().Before(end); {
		must(t, dead.shard.call(func() { n = dead.state.Ready() }))
	}
	d, _, ok, err := c.Get("dead", true)
	if err != nil || !ok {
		t.Errorf("no dead letter: %v", err)
		return
	}
	headers, err := JobHeaders(d.Env)
	must(t, err)
	if text, _ := headers.Get("x-error"); fmt.Sprint(text) != "why" {
		t.Errorf("dead letter with %v", headers)
	}
	settleDead(t, c.client, b)
	if jobs := c.take(1, 0); len(jobs) > 0 {
		t.Errorf("taken again: %+v", jobs)
	}
}

// TestLongErrorIsCut: the text of an error goes into a header of the dead letter, which AMQP consumers must be able to get.
func TestLongErrorIsCut(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	policy := DefaultQueuePolicy()
	_, err := c.DeclareQueue(QueueSpec{Name: "dead", Durable: true, Policy: policy})
	must(t, err)
	policy.DeadLetter, policy.HasDeadLetterKey, policy.DeadLetterKey = true, true, "dead"
	_, err = c.DeclareQueue(QueueSpec{Name: "q", Durable: true, Policy: policy})
	must(t, err)
	take := &Take{OnQueue: on("q"), Max: 1}
	must(t, c.Do(&Enqueue{OnQueue: on("q"), ID: []byte("a")}, take))
	must(t, take.Err)
	report := &Report{OnQueue: on("q"), ID: []byte("a"), Token: take.Jobs[0].Token, Outcome: JobFailed, Error: []byte("x" + strings.Repeat("é", 1<<20))}
	must(t, c.Do(report))
	must(t, report.Err)
	wait := &Take{OnQueue: on("dead"), Max: 1}
	i, err := c.Await(t.Context(), wait)
	must(t, err)
	if i != 0 || wait.Err != nil {
		t.Fatal(i, wait.Err)
	}
	headers, err := JobHeaders(wait.Jobs[0].Env)
	must(t, err)
	text, _ := headers.Get("x-error")
	if s, ok := text.(string); !ok || len(s) > maxJobError || len(s) < maxJobError-4 || !utf8.ValidString(s) {
		t.Errorf("%d bytes, valid %v", len(s), utf8.ValidString(s))
	}
}
