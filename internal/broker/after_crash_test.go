package broker

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// saga is a process of four messages in three queues, each waiting for others. A rejected message
// goes to the queue dead.
var saga = []struct {
	name, queue string
	after       []string
}{{"create", "q1", nil}, {"limit", "q2", []string{"create"}}, {"place", "q3", []string{"create", "limit"}}, {"remove", "q1", []string{"place"}}}

var sagaQueues = []string{"q1", "q2", "q3", "dead"}

// sagaRun records what was promised before the crash.
type sagaRun struct {
	begun   int             // sagas whose transaction was attempted
	posted  map[int]bool    // sagas that were committed
	settled map[string]bool // ids of messages whose settlement was committed
	maybe   string          // id of the message whose settlement was attempted last
	copied  int
}

func (r *sagaRun) live(t *testing.T, b *Broker) {
	c := newClient(t, b)
	for _, q := range sagaQueues {
		spec := QueueSpec{Name: q, Durable: true, Policy: DefaultQueuePolicy()}
		spec.Policy.ConsumeAfter = true
		if q != "dead" {
			spec.Policy.DeadLetter, spec.Policy.HasDeadLetterKey, spec.Policy.DeadLetterKey = true, true, "dead"
		}
		if _, err := c.DeclareQueue(spec); err != nil {
			return
		}
	}
	for i := range 5 {
		if !r.post(c, i) {
			return
		}
		for j, q := range []string{"q1", "dead", "q2", "q3", "q1"} {
			if !r.work(c, q, (i+j)%3 == 0) {
				return
			}
		}
		if i%2 == 1 {
			b.checkpointDue(false)
		}
	}
}

func (r *sagaRun) post(c *client, i int) bool {
	tx := c.NewTx()
	for j := range saga {
		step := saga[j]
		if i%2 == 1 { // waiting messages come first
			step = saga[len(saga)-1-j]
		}
		var after message.Array
		for _, a := range step.after {
			after = append(after, fmt.Sprint(a, i))
		}
		props := withHeaders("consume_after", after)
		props.Flags |= message.HasMessageID
		props.MessageID = fmt.Sprint(step.name, i)
		var p shard.Publish
		c.postProps("", step.queue, props.MessageID, props, func(have *shard.Publish) { p = *have; have.Targets = shard.Targets{} })
		tx.Publish(&p)
	}
	r.begun = i + 1
	if tx.Commit() != nil {
		return false
	}
	r.posted[i] = true
	return true
}

// work takes a message and acknowledges or rejects it.
func (r *sagaRun) work(c *client, q string, reject bool) bool {
	d, _, ok, err := c.Get(q, false)
	if err != nil || !ok {
		return err == nil
	}
	tx := c.NewTx()
	if reject && q != "dead" {
		r.copied++
		tx.Reject(d.Queue, nil, d.Handle, 1)
		return tx.Commit() == nil
	}
	r.maybe = string(d.Env.Body())
	tx.Ack(d.Queue, nil, d.Handle, 1)
	if tx.Commit() != nil {
		return false
	}
	r.settled[r.maybe], r.maybe = true, ""
	return true
}

// check compares the queues after the crash with the promises: each message is blocked when it
// should be, and none is lost, duplicated or restored.
func (r *sagaRun) check(t *testing.T, b *Broker) {
	t.Helper()
	c := newClient(t, b)
	status := map[string]queue.Status{}
	look := func() {
		clear(status)
		for _, q := range sagaQueues {
			if _, ok := c.vhost.Queue(q); !ok {
				continue
			}
			for _, line := range c.browse(q) {
				id, rest, _ := strings.Cut(line, " ")
				if _, twice := status[id]; twice {
					t.Errorf("%s is there twice", id)
				}
				status[id] = map[bool]queue.Status{true: queue.Blocked, false: queue.Ready}[strings.HasPrefix(rest, "blocked")]
			}
		}
		for i := range r.begun {
			r.checkOne(t, i, status)
		}
	}
	look()
	for again := true; again; { // take ready messages, one after the other, until none is left
		again = false
		for _, q := range sagaQueues {
			if _, ok := c.vhost.Queue(q); !ok {
				continue
			}
			if d, _, ok, err := c.Get(q, true); err != nil || ok {
				must(t, err)
				again = true
				r.settled[string(d.Env.Body())] = true
				look()
			}
		}
	}
	if len(status) > 0 {
		t.Errorf("these wait for ever: %v", status)
	}
	c.Close()
}

func (r *sagaRun) checkOne(t *testing.T, i int, status map[string]queue.Status) {
	t.Helper()
	there := 0
	for _, step := range saga {
		id := fmt.Sprint(step.name, i)
		have, ok := status[id]
		waits := slices.ContainsFunc(step.after, func(a string) bool { _, ok := status[fmt.Sprint(a, i)]; return ok })
		switch {
		case ok && r.settled[id]:
			t.Errorf("%s was settled and is back", id)
		case !ok && !r.settled[id] && r.posted[i] && r.maybe != id:
			t.Errorf("%s was posted and is lost", id)
		case !ok && waits:
			t.Errorf("%s is gone before what it waits for: %v", id, status)
		case ok && (have == queue.Blocked) != waits:
			t.Errorf("%s is %v: %v", id, have, status)
		}
		if ok || r.settled[id] {
			there++
		}
	}
	if !r.posted[i] && there > 0 && there < len(saga) {
		t.Errorf("saga %d is half there: %v", i, status)
	}
}

// TestSagaCrashAtEveryOperation crashes at each disk operation in turn, as
// TestCrashAtEveryOperation does.
func TestSagaCrashAtEveryOperation(t *testing.T) {
	var r *sagaRun
	crashEverywhere(t, 2, func() life {
		r = &sagaRun{posted: map[int]bool{}, settled: map[string]bool{}}
		return life{
			options: smallLog,
			live:    func(b *Broker) { r.live(t, b) },
			check: func(b *Broker) {
				one := *r
				one.settled = maps.Clone(r.settled)
				one.check(t, b)
			},
		}
	})
	if r.copied == 0 || len(r.settled) == 0 {
		t.Fatal("the workload has no dead letters or no settles")
	}
}
