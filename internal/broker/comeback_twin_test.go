package broker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// comeBackTwin models a queue with a delivery limit and retries, as a slice in publish order.
type comeBackTwin struct {
	p    QueuePolicy
	msgs []*twinMessage
	dead []string
}

type twinMessage struct {
	body  string
	out   bool
	count int64
	due   time.Time
}

func (n *comeBackTwin) next(now time.Time) *twinMessage {
	for _, m := range n.msgs {
		if !m.out && !m.due.After(now) {
			return m
		}
	}
	return nil
}

func (n *comeBackTwin) remove(m *twinMessage) {
	n.msgs = slices.DeleteFunc(n.msgs, func(x *twinMessage) bool { return x == m })
}

func (n *comeBackTwin) back(m *twinMessage, now time.Time, refused bool) {
	m.out, m.due = false, time.Time{}
	m.count++
	if n.p.DeliveryLimit >= 0 && m.count > n.p.DeliveryLimit {
		n.dead = append(n.dead, m.body)
		n.remove(m)
		return
	}
	waits := map[RetryType]bool{RetryAll: true, RetryFailed: refused, RetryReturned: !refused}
	if waits[n.p.RetryType] {
		m.due = now.Add(time.Duration(min(n.p.RetryMin*m.count, n.p.RetryMax)) * time.Millisecond)
	}
}

// TestComeBackAgainstTwin returns messages in all ways, with delays, stops and crashes, and
// compares the deliveries with the model.
func TestComeBackAgainstTwin(t *testing.T) {
	for seed := range uint64(16) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runComeBackTwin(t, seed, func(ms int) { time.Sleep(time.Duration(ms) * time.Millisecond) })
			})
		})
	}
}

func runComeBackTwin(t *testing.T, seed uint64, pass func(ms int)) {
	rng := rand.New(rand.NewPCG(seed, 11))
	n := &comeBackTwin{p: QueuePolicy{
		DeliveryLimit: []int64{-1, 0, 1, 4}[seed%4], RetryType: RetryType(seed / 4 % 4), RetryMin: 70, RetryMax: 200,
	}}
	fs := vfs.NewMem()
	b := openBroker(t, fs, nil)
	c := newClient(t, b)
	insist := seed%2 == 1
	c.queue("q", func(s *QueueSpec) {
		toQueue("dead")(s)
		s.Policy.AtLeastOnce = insist
		s.Policy.DeliveryLimit, s.Policy.RetryType, s.Policy.RetryMin, s.Policy.RetryMax = n.p.DeliveryLimit, n.p.RetryType, n.p.RetryMin, n.p.RetryMax
	})
	c.queue("dead", nil)
	var out []struct {
		d shard.Delivery
		m *twinMessage
	}
	for step := range 600 {
		switch op := rng.IntN(100); {
		case op < 30:
			m := &twinMessage{body: fmt.Sprint(step)}
			c.put("", "q", m.body, nil)
			n.msgs = append(n.msgs, m)
		case op < 60:
			d, _, ok, err := c.Get("q", false)
			must(t, err)
			m := n.next(time.Now())
			if ok != (m != nil) || ok && (string(d.Env.Body()) != m.body || int64(d.Count) != m.count) {
				t.Fatalf("step %d: got %v %q count %d, want %+v", step, ok, d.Env, d.Count, m)
			}
			if ok {
				m.out = true
				out = append(out, struct {
					d shard.Delivery
					m *twinMessage
				}{d, m})
			}
		case op < 92 && len(out) > 0:
			i := rng.IntN(len(out))
			o := out[i]
			out = slices.Delete(out, i, i+1)
			switch how := rng.IntN(5); how {
			case 0:
				c.Ack(o.d.Queue, nil, o.d.Handle, 1)
				n.remove(o.m)
			case 1, 2:
				c.Requeue(o.d.Queue, nil, o.d.Handle, 1)
				n.back(o.m, time.Now(), true)
			default:
				c.Return(o.d.Queue, nil, o.d.Handle, 1)
				n.back(o.m, time.Now(), false)
			}
			c.Flush()
			synctest.Wait()
		case op < 98:
			pass(rng.IntN(120))
			synctest.Wait()
		case op == 98:
			b.checkpointDue(false)
		case op == 99 && rng.IntN(2) == 0:
			b, c, fs = again(t, b, c, fs, 1+rng.IntN(2))
			out = nil
			for _, m := range n.msgs {
				m.out = false
			}
		}
	}
	sameStrings(t, c.drain("dead"), n.dead...)
	c.Close()
	mustClose(t, b)
}
