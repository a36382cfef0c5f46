package broker

import (
	"testing"
	"testing/synctest"
	"time"

	"fiveways/internal/core/histogram"
	"fiveways/internal/storage/vfs"
)

// sampleOf is the sample of one queue.
func sampleOf(t *testing.T, b *Broker, name string) (*Sample, QueueSample) {
	t.Helper()
	var s Sample
	must(t, b.Sample(&s))
	for _, q := range s.Queues {
		if q.Name == name {
			return &s, q
		}
	}
	return &s, QueueSample{}
}

// Every way of a message in, out and away is counted once.
func TestCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		c := newClient(t, b)
		c.queue("dead", nil)
		c.queue("q", func(s *QueueSpec) {
			toQueue("dead")(s)
			s.Policy.DeliveryLimit, s.Policy.MaxLength = 1, 3
		})
		get := func(noAck bool) Delivery {
			d, _, _, err := c.Get("q", noAck)
			must(t, err)
			return d
		}
		for range 4 { // one too many
			c.put("", "q", "body", nil)
		}
		c.put("", "none", "body", nil)
		c.Flush()
		d := get(false)
		c.Ack(d.Queue, nil, d.Handle, 1)
		for range 2 { // it comes back once, and dies the second time
			d = get(false)
			c.Requeue(d.Queue, nil, d.Handle, 1)
		}
		d = get(false)
		c.Reject(d.Queue, nil, d.Handle, 1)
		get(true) // none is left
		must(t, c.Do(&pushing{OnQueue: OnQueue{Queue: "q"}, Bodies: [][]byte{[]byte("direct")}}))
		get(true)
		c.put("", "q", "short", func(p *Publish) { p.TTL = 10 })
		c.Flush()
		time.Sleep(time.Second)
		synctest.Wait()
		s, q := sampleOf(t, b, "q")
		want := Counts{
			Published: 6, PublishedBytes: 4*4 + 6 + 5, Direct: 1, Got: 4, GotNoAck: 1, GotNone: 1, Redelivered: 1, HandedOutBytes: 4*4 + 6,
			Acked: 1, Returned: 1, Expired: 1, Rejected: 1, PushedOut: 1, TooOften: 1, DeadLettered: 4,
		}
		if q.Counts != want {
			t.Errorf("counts\n got %+v\nwant %+v", q.Counts, want)
		}
		if v := s.VHosts[0]; v.In != 6 || v.Out != 5 || v.NoRoute != 1 || v.Exchanges[0] != (ExchangeSample{"", "direct", 0, 6, 5, 1}) {
			t.Errorf("virtual host %+v", v)
		}
		consumer := c.consume("dead", func(s *ConsumerSpec) { s.NoAck = true })
		c.take(4)
		c.Cancel(consumer)
		if _, dead := sampleOf(t, b, "dead"); dead.Counts.DeliveredNoAck != 4 || dead.Counts.Published != 4 {
			t.Errorf("dead letters %+v", dead.Counts)
		}
		// Sums do not fall when queues go.
		_, err := c.DeleteQueue("q", false, false)
		must(t, err)
		if s, _ := sampleOf(t, b, "q"); s.Retired != want || s.VHosts[0].Retired != want {
			t.Errorf("retired\n got %+v\nwant %+v", s.Retired, want)
		}
		if l := b.Latencies(); l.Queueing.Count() == 0 || l.Confirm.Count() == 0 {
			t.Errorf("latencies %+v", l)
		}
		c.Close()
		mustClose(t, b)
	})
}

// The age of the oldest message is known to the time between samples, and does not get lost in a
// long backlog.
func TestAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const step, samples = 5 * time.Second, 200
		b := openBroker(t, vfs.NewMem(), nil)
		c := newClient(t, b)
		c.queue("q", nil)
		if _, q := sampleOf(t, b, "q"); q.OldestSince != 0 {
			t.Errorf("an empty queue has an oldest message, since %d", q.OldestSince)
		}
		var published []int64
		for range samples {
			c.put("", "q", "m", nil)
			c.Flush()
			published = append(published, time.Now().UnixMilli())
			time.Sleep(step)
			sampleOf(t, b, "q")
		}
		for i := range samples - 1 {
			_, _, _, err := c.Get("q", true)
			must(t, err)
			_, q := sampleOf(t, b, "q")
			real, told := time.Now().UnixMilli()-published[i+1], q.waitedFor()
			if off := (real - told) / step.Milliseconds(); told > real || off > samples/8+1 {
				t.Errorf("message %d is there for %d ms, told are %d", i+1, real, told)
				break
			}
		}
		c.Close()
		mustClose(t, b)
	})
}

// waitedFor is how long the oldest message has been there, as far as is known.
func (q *QueueSample) waitedFor() int64 { return time.Now().UnixMilli() - q.OldestSince }

// A message that ends without being handed out is not waited for for ever.
func TestProbeGoesOn(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.queue("q", nil)
	times := func() uint64 { s := b.Latencies().Queueing; return s.Count() }
	for range 2 {
		c.put("", "q", "purged", nil)
		c.Flush()
		_, err := c.PurgeQueue("q")
		must(t, err)
		sampleOf(t, b, "q")
		before := times()
		c.put("", "q", "taken", nil)
		c.Flush()
		if _, _, ok, err := c.Get("q", true); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if times() != before+1 {
			t.Errorf("%d messages were timed, then %d", before, times())
		}
	}
	c.post("", "q", "confirmed", func(p *Publish) { p.Persistent = true })
	c.Flush()
	syncAll(t, b)
	var none histogram.Snapshot
	if l := b.Latencies(); l.Sync == none || l.Group == none {
		t.Error("no fsync was counted")
	}
	c.Close()
	mustClose(t, b)
}

func TestConsumerStatus(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.queue("q", func(s *QueueSpec) { s.Policy.SingleActive = true })
	c.consume("q", func(s *ConsumerSpec) { s.Tag, s.Prefetch, s.Channel = "one", 5, 3 })
	c.consume("q", func(s *ConsumerSpec) { s.Tag, s.NoAck = "two", true })
	c.put("", "q", "m", nil)
	c.Flush()
	c.take(1)
	all, err := c.ListConsumers()
	must(t, err)
	if len(all) != 2 || all[0].Tag != "one" || all[0].Unacked != 1 || all[0].Prefetch != 5 || all[0].Channel != 3 || !all[0].Active || all[1].Active || !all[1].NoAck {
		t.Errorf("consumers %+v", all)
	}
	of, err := c.QueueConsumers("q")
	must(t, err)
	st, err := c.QueueStatus("q")
	must(t, err)
	if len(of) != 2 || st.ActiveConsumer != "one" || st.ExclusiveConsumer {
		t.Errorf("%+v, %+v", of, st)
	}
	c.Close()
	mustClose(t, b)
}
