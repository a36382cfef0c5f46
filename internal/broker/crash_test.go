package broker

import (
	"fmt"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
)

// crashRun records the workload of a broker: what was promised, and what may have happened without
// an answer before the crash.
type crashRun struct {
	confirmed map[string][]string // queue -> confirmed bodies, in order
	settled   map[string]bool     // "queue/body" of committed acks
	maybe     map[string]bool     // "queue/body" attempted without an answer
	txs       int                 // transactions attempted
}

const crashSteps = 40

// live runs the workload until a promise fails: that is the crash.
func (r *crashRun) live(t *testing.T, b *Broker) {
	c := newClient(t, b)
	queues := []string{"q1", "q2"}
	for _, q := range queues {
		if declare(c, QueueSpec{Name: q, Durable: true}) != nil {
			return
		}
	}
	if c.DeclareExchange(ExchangeSpec{Name: "x", Type: "fanout", Durable: true}) != nil {
		return
	}
	for _, q := range queues {
		if c.Bind(BindSpec{Source: "x", Destination: q}) != nil {
			return
		}
	}
	for i := range crashSteps {
		body := fmt.Sprintf("m%03d", i)
		var ok bool
		switch {
		case i%5 == 4:
			ok = r.transaction(c, i)
		case i%7 == 6:
			ok = r.settle(c, queues[i%2])
		case i%3 == 0:
			ok = r.publish(c, "x", "", body, queues)
		default:
			ok = r.publish(c, "", "q1", body, queues[:1])
		}
		if !ok {
			return
		}
		if i%9 == 8 {
			b.checkpointDue(false)
		}
	}
}

func (r *crashRun) publish(c *client, exchange, key, body string, queues []string) bool {
	for _, q := range queues {
		r.maybe[q+"/"+body] = true
	}
	seq := c.post(exchange, key, body, nil)
	if seq%2 == 0 {
		c.FlushInline()
	} else {
		c.Flush()
	}
	parts := 1
	if len(queues) > 1 {
		parts = 2 // the queues are on two shards
	}
	c.until(func() bool { return c.acks[seq]+c.nacks[seq] >= parts })
	if c.nacks[seq] > 0 {
		return false
	}
	for _, q := range queues {
		delete(r.maybe, q+"/"+body)
		r.confirmed[q] = append(r.confirmed[q], body)
	}
	return true
}

// transaction publishes to both queues at once.
func (r *crashRun) transaction(c *client, i int) bool {
	body := fmt.Sprintf("tx%03d", i)
	tx := c.NewTx()
	for _, q := range []string{"q1", "q2"} {
		var p shard.Publish
		c.post("", q, body, func(have *shard.Publish) { p = *have; have.Targets = shard.Targets{} })
		tx.Publish(&p)
		r.maybe[q+"/"+body] = true
	}
	r.txs++
	if tx.Commit() != nil {
		return false
	}
	for _, q := range []string{"q1", "q2"} {
		delete(r.maybe, q+"/"+body)
		r.confirmed[q] = append(r.confirmed[q], body)
	}
	return true
}

// settle takes one message and acknowledges it in a transaction, whose answer is a promise.
func (r *crashRun) settle(c *client, q string) bool {
	d, _, ok, err := c.Get(q, false)
	if err != nil || !ok {
		return err == nil
	}
	key := q + "/" + string(d.Env.Body())
	r.maybe[key] = true
	tx := c.NewTx()
	tx.Ack(d.Queue, nil, d.Handle, 1)
	if tx.Commit() != nil {
		return false
	}
	delete(r.maybe, key)
	r.settled[key] = true
	return true
}

// check compares the state after the crash with the promises.
func (r *crashRun) check(t *testing.T, b *Broker) {
	t.Helper()
	c := newClient(t, b)
	there := map[string][]string{}
	for _, q := range []string{"q1", "q2"} {
		if _, ok := c.vhost.Queue(q); ok {
			there[q] = c.drain(q)
		} else if len(r.confirmed[q]) > 0 {
			t.Errorf("queue %s is gone with %q", q, r.confirmed[q])
		}
	}
	for q, got := range there {
		if !slices.IsSorted(numbers(got)) {
			t.Errorf("%s out of order: %q", q, got)
		}
		for _, body := range r.confirmed[q] {
			key := q + "/" + body
			switch has := slices.Contains(got, body); {
			case r.settled[key] && has:
				t.Errorf("%s was settled and is back", key)
			case !r.settled[key] && !r.maybe[key] && !has:
				t.Errorf("%s was confirmed and is lost; there is %q", key, got)
			}
		}
		for i, body := range got {
			if slices.Contains(got[:i], body) {
				t.Errorf("%s/%s is there twice", q, body)
			}
			if !slices.Contains(r.confirmed[q], body) && !r.maybe[q+"/"+body] {
				t.Errorf("%s/%s was never published", q, body)
			}
		}
	}
	for i := range crashSteps {
		body := fmt.Sprintf("tx%03d", i)
		if r.settled["q1/"+body] || r.settled["q2/"+body] || r.maybe["q1/"+body] != r.maybe["q2/"+body] {
			continue // the message of one queue was consumed
		}
		if slices.Contains(there["q1"], body) != slices.Contains(there["q2"], body) {
			t.Errorf("transaction %s is half there: %q %q", body, there["q1"], there["q2"])
		}
	}
	if declare(c, QueueSpec{Name: "after", Durable: true}) != nil {
		t.Fatal("no declare after recovery")
	}
	c.put("", "after", "works", nil)
	sameStrings(t, c.drain("after"), "works")
	c.Close()
}

// numbers returns the step in each body, to check the order.
func numbers(bodies []string) (ns []int) {
	for _, s := range bodies {
		var n int
		for _, r := range s {
			if r >= '0' && r <= '9' {
				n = n*10 + int(r-'0')
			}
		}
		ns = append(ns, n)
	}
	return ns
}

// TestCrashAtEveryOperation crashes at each disk operation in turn, and opens what a power failure
// may leave.
func TestCrashAtEveryOperation(t *testing.T) {
	var r *crashRun
	crashEverywhere(t, 3, func() life {
		r = &crashRun{confirmed: map[string][]string{}, settled: map[string]bool{}, maybe: map[string]bool{}}
		return life{
			options: smallLog,
			live:    func(b *Broker) { r.live(t, b) },
			check:   func(b *Broker) { r.check(t, b) },
		}
	})
	if r.txs == 0 || len(r.settled) == 0 {
		t.Fatal("the workload has no transactions or no settles")
	}
}
