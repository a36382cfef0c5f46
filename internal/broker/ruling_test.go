package broker

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// testPolicies are policies whose values overwrite fields of a QueuePolicy for queues whose names
// start with the policy's, and set an alternate for such exchanges.
type testPolicies struct{}

type testRules []Parameter

// plainPolicy is decoded field by field: absent ones stay unchanged.
type plainPolicy QueuePolicy

func (testPolicies) Component(name string) bool { return name == "policy" }

func (testPolicies) Compile(all []Parameter) Rules { return testRules(all) }

func (rules testRules) Queue(name string, _ message.Table, declared QueuePolicy) Ruling {
	r := Ruling{QueuePolicy: declared}
	for _, p := range rules {
		if strings.HasPrefix(name, p.Name) {
			json.Unmarshal(p.Value, (*plainPolicy)(&r.QueuePolicy))
			r.Applied = Applied{Policy: p.Name}
		}
	}
	return r
}

func (rules testRules) Exchange(name string) (alternate string, a Applied) {
	for _, p := range rules {
		if strings.HasPrefix(name, p.Name) {
			var v struct{ Alternate string }
			json.Unmarshal(p.Value, &v)
			return v.Alternate, Applied{Policy: p.Name}
		}
	}
	return "", a
}

func withPolicies(o *Options) { o.Policies = testPolicies{} }

// rule sets a policy.
func (c *client) rule(name, value string) {
	c.t.Helper()
	must(c.t, c.b.SetParameter(Parameter{VHost: "/", Component: "policy", Name: name, Value: json.RawMessage(value)}))
}

// unrule deletes a policy.
func (c *client) unrule(name string) {
	c.t.Helper()
	must(c.t, c.b.DeleteParameter("/", "policy", name))
}

func (c *client) ruling(queue string) Ruling {
	c.t.Helper()
	q, ok := c.vhost.Queue(queue)
	if !ok {
		c.t.Fatalf("no queue %s", queue)
	}
	return q.Ruling()
}

func inPolicyBubble(t *testing.T) *client {
	b := openBroker(t, vfs.NewMem(), withPolicies)
	c := newClient(t, b)
	t.Cleanup(func() {
		c.Close()
		mustClose(t, b)
	})
	return c
}

func TestPolicyShortensAQueue(t *testing.T) {
	for _, p := range []string{`{"MaxLength":2}`, `{"MaxLengthBytes":4}`} {
		c := inPolicyBubble(t)
		c.queue("dead", nil)
		c.queue("q", toQueue("dead"))
		for _, body := range []string{"m1", "m2", "m3", "m4"} {
			c.put("", "q", body, nil)
		}
		c.rule("q", p)
		sameStrings(t, c.drain("q"), "m3", "m4")
		sameStrings(t, c.drain("dead"), "m1", "m2")
		for _, body := range []string{"m5", "m6", "m7"} {
			c.put("", "q", body, nil)
		}
		c.unrule("q")
		c.put("", "q", "m8", nil)
		sameStrings(t, c.drain("q"), "m6", "m7", "m8")
	}
}

func TestPolicyShortensALongQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inPolicyBubble(t)
		c.queue("q", nil)
		const n = shard.ShrinkStep + 10
		for i := range n {
			c.post("", "q", fmt.Sprint(i), nil)
		}
		c.Flush()
		c.until(func() bool { return len(c.acks) == n })
		c.rule("q", `{"MaxLength":1}`)
		time.Sleep(2 * shard.DeadRetry * time.Millisecond)
		synctest.Wait()
		sameStrings(t, c.drain("q"), fmt.Sprint(n-1))
	})
}

func TestPolicyOverflow(t *testing.T) {
	c := inPolicyBubble(t)
	c.queue("q", nil)
	c.put("", "q", "m1", nil)
	c.put("", "q", "m2", nil)
	c.rule("q", `{"MaxLength":1,"Overflow":1}`)
	c.put("", "q", "m3", nil)
	if c.nacks[3] != 1 {
		t.Error("a full queue took a message")
	}
	sameStrings(t, c.drain("q"), "m1", "m2") // existing messages stay
}

func TestPolicyTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inPolicyBubble(t)
		c.queue("q", nil)
		c.put("", "q", "before", nil)
		c.rule("q", `{"MessageTTL":1000}`)
		c.put("", "q", "after", nil)
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		sameStrings(t, c.drain("q"), "before")

		time.Sleep(time.Hour)
		c.rule("q", `{"Expires":5000}`)
		time.Sleep(4900 * time.Millisecond) // the time starts with the policy
		synctest.Wait()
		if !c.HasQueue("q") {
			t.Fatal("the queue went too early")
		}
		time.Sleep(200 * time.Millisecond)
		untilRemoved(c.b)
		synctest.Wait()
		if c.HasQueue("q") {
			t.Error("the queue is still there")
		}
	})
}

func TestPolicyDeadLetters(t *testing.T) {
	c := inPolicyBubble(t)
	c.queue("dead", nil)
	c.queue("q", nil)
	reject := func(body string) {
		c.put("", "q", body, nil)
		d, _, _, err := c.Get("q", false)
		must(t, err)
		c.Reject(d.Queue, nil, d.Handle, 1)
		c.Flush()
		syncAll(t, c.b)
	}
	reject("m1")
	c.rule("q", `{"DeadLetter":true,"HasDeadLetterKey":true,"DeadLetterKey":"dead"}`)
	reject("m2")
	c.unrule("q")
	reject("m3")
	sameStrings(t, c.drain("dead"), "m2")
}

// A policy that removes the route of at-least-once dead letters drops them.
func TestPolicyEndsABacklogOfDeadLetters(t *testing.T) {
	for name, c := range map[string]struct {
		policy string
		dead   []string
	}{
		"no exchange any more": {`{"DeadLetter":false}`, nil},
		"at most once":         {`{"AtLeastOnce":false,"DeadLetterExchange":""}`, []string{"m"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := inPolicyBubble(t)
				cl.queue("dead", nil)
				cl.queue("q", func(s *QueueSpec) { insisting("nowhere", "dead")(s); s.Policy.MessageTTL = 1000 })
				cl.put("", "q", "m", nil)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				cl.rule("q", c.policy)
				time.Sleep(time.Second)
				synctest.Wait()
				sameStrings(t, cl.drain("dead"), c.dead...)
				cl.pickyState("q", func(_ *shard.Shard, q *shard.Queue) {
					if shard.ContextOf(q).Deliveries().Unacked()+shard.ContextOf(q).Deliveries().Ready() != 0 {
						t.Errorf("left: %d unacked, %d ready", shard.ContextOf(q).Deliveries().Unacked(), shard.ContextOf(q).Deliveries().Ready())
					}
				})
			})
		})
	}
}

func TestPolicyDeliveryLimit(t *testing.T) {
	c := inPolicyBubble(t)
	c.queue("q", nil)
	c.put("", "q", "m", nil)
	c.rule("q", `{"DeliveryLimit":1}`)
	for want := range 2 {
		d, _, ok, err := c.Get("q", false)
		must(t, err)
		if !ok {
			t.Fatalf("gone after %d returns", want)
		}
		c.Requeue(d.Queue, nil, d.Handle, 1)
		c.Flush()
	}
	sameStrings(t, c.drain("q"))
}

func TestPolicyKeepsStructure(t *testing.T) {
	c := inPolicyBubble(t)
	c.queue("q", func(s *QueueSpec) { s.Policy.MaxPriority = 3 })
	c.rule("q", `{"MaxPriority":9,"SingleActive":true,"GroupHeader":"g","ConsumeAfter":true,"Deduplicate":true,"Sync":3}`)
	r := c.ruling("q")
	want := DefaultQueuePolicy()
	want.MaxPriority, want.Sync = 3, SyncOS
	if r.QueuePolicy != want {
		t.Errorf("got %+v, want %+v", r.QueuePolicy, want)
	}
	q, _ := c.vhost.Queue("q")
	if wait := shard.DebugOf(q.Home()).Promise(q); wait != store.SyncOS.Wait() {
		t.Errorf("a confirm waits for %v", wait)
	}
}

func TestPolicyOfAnExchange(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, withPolicies)
	c := newClient(t, b)
	c.queue("lost", nil)
	must(t, c.DeclareExchange(ExchangeSpec{Name: "ae", Type: "fanout", Durable: true}))
	must(t, c.Bind(BindSpec{Source: "ae", Destination: "lost"}))
	must(t, c.DeclareExchange(ExchangeSpec{Name: "x1", Type: "direct", Durable: true}))
	c.rule("x", `{"Alternate":"ae"}`)
	must(t, c.DeclareExchange(ExchangeSpec{Name: "x2", Type: "direct", Durable: true}))
	must(t, c.DeclareExchange(ExchangeSpec{Name: "x3", Type: "direct", Durable: true, Alternate: "other"}))
	must(t, c.DeclareExchange(ExchangeSpec{Name: "x2", Type: "direct", Durable: true})) // settings from policies are not compared
	for _, x := range []string{"x1", "x2", "x3"} {
		c.put(x, "", x, nil)
	}
	sameStrings(t, c.drain("lost"), "x1", "x2")
	if a := c.ExchangePolicy("x1"); a.Policy != "x" {
		t.Errorf("%+v applies", a)
	}
	c.Close()
	mustClose(t, b)

	b = openBroker(t, fs, withPolicies)
	defer mustClose(t, b)
	c = newClient(t, b)
	defer c.Close()
	c.put("x1", "", "again", nil)
	c.unrule("x")
	c.put("x2", "", "nowhere", nil)
	sameStrings(t, c.drain("lost"), "again")
}

// The effects of policies are not part of the definitions, which are the same without them.
func TestPolicyLeavesTheDeclaration(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, withPolicies)
	c := newClient(t, b)
	c.queue("q", nil)
	before, err := b.Hash()
	must(t, err)
	c.rule("q", `{"MaxLength":7,"Sync":3}`)
	c.queue("q", nil) // the same queue
	c.queue("q2", nil)
	if _, err := c.DeleteQueue("q2", false, false); err != nil {
		t.Fatal(err)
	}
	with, err := b.Hash()
	must(t, err)
	c.Close()
	mustClose(t, b)

	b = openBroker(t, fs, withPolicies)
	c = newClient(t, b)
	if again, err := b.Hash(); err != nil || again != with {
		t.Errorf("hash after a restart: %x, want %x, %v", again, with, err)
	}
	if r := c.ruling("q"); r.MaxLength != 7 || r.Policy != "q" || r.Sync != SyncOS {
		t.Errorf("after a restart: %+v", r)
	}
	c.unrule("q")
	if after, err := b.Hash(); err != nil || after != before {
		t.Errorf("hash without the policy: %x, want %x, %v", after, before, err)
	}
	c.Close()
	mustClose(t, b)
}

// Policies change while messages are published and consumed.
func TestPolicyChangesUnderLoad(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), withPolicies)
	defer mustClose(t, b)
	var wg sync.WaitGroup
	for _, name := range []string{"q1", "q2", "q3"} {
		c := newClient(t, b)
		c.queue(name, nil)
		wg.Go(func() {
			defer c.Close()
			for i := range 500 {
				c.put("", name, fmt.Sprint(i), nil)
				if i%3 == 0 {
					c.Get(name, true) //nolint:errcheck // it may be empty
				}
			}
		})
	}
	admin := newClient(t, b)
	defer admin.Close()
	for i := range 100 {
		admin.rule("q", fmt.Sprintf(`{"MaxLength":%d,"Overflow":%d,"MessageTTL":%d}`, i%7, i%2, 1000+i))
	}
	wg.Wait()
	admin.rule("q", `{"MaxLength":3}`)
	for _, name := range []string{"q1", "q2", "q3"} {
		admin.pickyState(name, func(_ *shard.Shard, q *shard.Queue) {
			if n := shard.ContextOf(q).Deliveries().Ready(); n > 3 {
				t.Errorf("%s: %d ready", name, n)
			}
		})
	}
}

// After a crash a policy either exists and applies, or does not exist. Nothing is dropped for a
// policy that does not exist.
func TestPolicyCrash(t *testing.T) {
	crashEverywhere(t, 2, func() life {
		var put, set bool // promised
		return life{
			options: withPolicies,
			live: func(b *Broker) {
				c := newClient(t, b)
				defer c.Close()
				if declare(c, QueueSpec{Name: "q", Durable: true, Policy: DefaultQueuePolicy()}) != nil {
					return
				}
				for _, body := range []string{"m1", "m2", "m3"} {
					c.put("", "q", body, nil)
				}
				put = len(c.acks) == 3
				set = b.SetParameter(Parameter{VHost: "/", Component: "policy", Name: "q", Value: json.RawMessage(`{"MaxLength":1}`)}) == nil
			},
			check: func(b *Broker) {
				c := newClient(t, b)
				defer c.Close()
				if !c.HasQueue("q") {
					if put {
						t.Error("the queue is lost")
					}
					return
				}
				ruled := c.ruling("q").MaxLength == 1
				n := len(c.drain("q"))
				switch {
				case set && !ruled:
					t.Error("the policy is lost")
				case put && !ruled && n != 3:
					t.Errorf("%d messages without a policy", n)
				case put && ruled && n < 1:
					t.Error("the last message is lost")
				}
			},
		}
	})
}
