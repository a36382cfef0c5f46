package inspect

import (
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/histogram"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// sampleQueueOf is the sample of one queue.
func sampleQueueOf(t *testing.T, sampler *Sampler, name string) (*Sample, QueueSample) {
	t.Helper()
	var s Sample
	enginetest.Must(t, sampler.Sample(&s))
	for _, q := range s.Queues {
		if q.Name == name {
			return &s, *q
		}
	}
	return &s, QueueSample{}
}

// Every way of a message in, out and away is counted once.
func TestCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.Open(t, vfs.NewMem(), nil)
		c, sampler := enginetest.NewClient(t, b), NewSampler(b)
		c.Queue("dead", nil)
		c.Queue("q", func(s *catalog.QueueSpec) {
			s.Policy.DeadLetter, s.Policy.DeadLetterKey, s.Policy.HasDeadLetterKey = true, "dead", true
			s.Policy.DeliveryLimit, s.Policy.MaxLength = 1, 3
		})
		get := func(noAck bool) shard.Delivery {
			d, _, _, err := c.Get("q", noAck)
			enginetest.Must(t, err)
			return d
		}
		for range 4 { // one too many
			c.Put("q", "body", nil)
		}
		c.Put("none", "body", nil)
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
		enginetest.Must(t, c.Do(&lists.Push{OnQueue: enginetest.On("q"), Bodies: [][]byte{[]byte("direct")}}))
		get(true)
		c.Put("q", "short", func(p *shard.Publish) { p.TTL = 10 })
		c.Flush()
		time.Sleep(time.Second)
		synctest.Wait()
		s, q := sampleQueueOf(t, sampler, "q")
		want := queue.Counts{
			Published: 6, PublishedBytes: 4*4 + 6 + 5, Direct: 1, Got: 4, GotNoAck: 1, GotNone: 1, Redelivered: 1, HandedOutBytes: 4*4 + 6,
			Acked: 1, Returned: 1, Expired: 1, Rejected: 1, PushedOut: 1, TooOften: 1, DeadLettered: 4,
		}
		if q.Counts != want {
			t.Errorf("counts\n got %+v\nwant %+v", q.Counts, want)
		}
		if v := s.VHosts[0]; v.In != 6 || v.Out != 5 || v.NoRoute != 1 || v.Exchanges[0] != (ExchangeSample{"", "direct", 0, 6, 5, 1}) {
			t.Errorf("virtual host %+v", v)
		}
		consumer := c.Consumes("dead", func(s *shard.ConsumerSpec) { s.NoAck = true })
		c.Deliveries(4)
		c.Cancel(consumer)
		if _, dead := sampleQueueOf(t, sampler, "dead"); dead.Counts.DeliveredNoAck != 4 || dead.Counts.Published != 4 {
			t.Errorf("dead letters %+v", dead.Counts)
		}
		// Sums do not fall when queues go.
		_, err := c.DeleteQueue("q", false, false)
		enginetest.Must(t, err)
		if s, _ := sampleQueueOf(t, sampler, "q"); s.Retired != want || s.VHosts[0].Retired != want {
			t.Errorf("retired\n got %+v\nwant %+v", s.Retired, want)
		}
		if l := b.Latencies(); l.Queueing.Count() == 0 || l.Confirm.Count() == 0 {
			t.Errorf("latencies %+v", l)
		}
		c.Close()
		enginetest.Close(t, b)
	})
}

// The age of the oldest message is known to the time between samples, and does not get lost in a
// long backlog.
func TestAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const step, samples = 5 * time.Second, 200
		b := enginetest.Open(t, vfs.NewMem(), nil)
		c, sampler := enginetest.NewClient(t, b), NewSampler(b)
		c.Queue("q", nil)
		if _, q := sampleQueueOf(t, sampler, "q"); q.OldestSince != 0 {
			t.Errorf("an empty queue has an oldest message, since %d", q.OldestSince)
		}
		var published []int64
		for range samples {
			c.Put("q", "m", nil)
			c.Flush()
			published = append(published, time.Now().UnixMilli())
			time.Sleep(step)
			sampleQueueOf(t, sampler, "q")
		}
		for i := range samples - 1 {
			_, _, _, err := c.Get("q", true)
			enginetest.Must(t, err)
			_, q := sampleQueueOf(t, sampler, "q")
			real, told := time.Now().UnixMilli()-published[i+1], q.waitedFor()
			if off := (real - told) / step.Milliseconds(); told > real || off > samples/8+1 {
				t.Errorf("message %d is there for %d ms, told are %d", i+1, real, told)
				break
			}
		}
		c.Close()
		enginetest.Close(t, b)
	})
}

// waitedFor is how long the oldest message has been there, as far as is known.
func (q *QueueSample) waitedFor() int64 { return time.Now().UnixMilli() - q.OldestSince }

// A message that ends without being handed out is not waited for for ever.
func TestProbeGoesOn(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	c := enginetest.NewClient(t, b)
	c.Queue("q", nil)
	sampler := NewSampler(b)
	times := func() uint64 { s := b.Latencies().Queueing; return s.Count() }
	for range 2 {
		c.Put("q", "purged", nil)
		c.Flush()
		_, err := c.PurgeQueue("q")
		enginetest.Must(t, err)
		sampleQueueOf(t, sampler, "q")
		before := times()
		c.Put("q", "taken", nil)
		c.Flush()
		if _, _, ok, err := c.Get("q", true); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if times() != before+1 {
			t.Errorf("%d messages were timed, then %d", before, times())
		}
	}
	c.Post("", "q", "confirmed", message.Properties{}, func(p *shard.Publish) { p.Persistent = true })
	c.Flush()
	enginetest.Sync(t, b)
	var none histogram.Snapshot
	if l := b.Latencies(); l.Sync == none || l.Group == none {
		t.Error("no fsync was counted")
	}
	c.Close()
	enginetest.Close(t, b)
}

func TestConsumerStatus(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	c := enginetest.NewClient(t, b)
	c.Queue("q", func(s *catalog.QueueSpec) { s.Policy.SingleActive = true })
	c.Consumes("q", func(s *shard.ConsumerSpec) { s.Tag, s.Prefetch, s.Channel = "one", 5, 3 })
	c.Consumes("q", func(s *shard.ConsumerSpec) { s.Tag, s.NoAck = "two", true })
	c.Put("q", "m", nil)
	c.Flush()
	c.Deliveries(1)
	all, err := Consumers(c.Session)
	enginetest.Must(t, err)
	if len(all) != 2 || all[0].Tag != "one" || all[0].Unacked != 1 || all[0].Prefetch != 5 || all[0].Channel != 3 || !all[0].Active || all[1].Active || !all[1].NoAck {
		t.Errorf("consumers %+v", all)
	}
	of, err := QueueConsumers(c.Session, "q")
	enginetest.Must(t, err)
	st, err := Queue(c.Session, "q")
	enginetest.Must(t, err)
	if len(of) != 2 || st.ActiveConsumer != "one" || st.ExclusiveConsumer {
		t.Errorf("%+v, %+v", of, st)
	}
	c.Close()
	enginetest.Close(t, b)
}

// Nobody pays for the samples of queues in which nothing happens.
func TestSampleOfAnIdleQueueStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.Open(t, vfs.NewMem(), nil)
		c, sampler := enginetest.NewClient(t, b), NewSampler(b)
		c.Queue("q", nil)
		sample := func() *QueueSample {
			var s Sample
			enginetest.Must(t, sampler.Sample(&s))
			return s.Queues[0]
		}
		first := sample()
		<-time.After(time.Minute)
		if sample() != first {
			t.Error("a queue in which nothing happened has a new sample")
		}
		c.Put("q", "body", nil)
		c.Flush()
		if after := sample(); first.Ready != 0 || after.Ready != 1 {
			t.Errorf("%d ready in the old sample, %d in the new one", first.Ready, after.Ready)
		}
		c.Close()
		enginetest.Close(t, b)
	})
}
