package broker

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func singleActive(byRank bool) func(*QueueSpec) {
	return func(s *QueueSpec) { s.Policy.SingleActive, s.Policy.ActiveByRank = true, byRank }
}

// One consumer gets messages. The next one is chosen by priority, then by age.
func TestSingleActiveConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		c := newClient(t, b)
		c.queue("q", singleActive(false))
		var ks []*shard.Consumer
		for i, priority := range []int{0, 0, 7, 0} {
			ks = append(ks, c.consume("q", func(s *shard.ConsumerSpec) { s.Tag, s.Priority = fmt.Sprint(i), priority }))
		}
		for _, want := range []int{0, 2, 1, 3} {
			for range 2 {
				c.put("", "q", "m", nil)
				synctest.Wait()
				if d := c.take(1)[0]; d.Consumer != ks[want] {
					t.Fatalf("consumer %s got a message, want %d", d.Consumer.Tag, want)
				}
			}
			c.Cancel(ks[want])
		}
		c.put("", "q", "nobody", nil)
		synctest.Wait()
		if len(c.got) != 0 {
			t.Errorf("%q delivered without consumers", bodies(c.got))
		}
		late := c.consume("q", nil)
		if d := c.take(1)[0]; d.Consumer != late {
			t.Error("a consumer that comes when there is none does not become active")
		}
		c.Close()
		mustClose(t, b)
	})
}

// By rank, the active one keeps its role until it has no outstanding deliveries, and gets no more
// meanwhile.
func TestSingleActiveConsumerByRank(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		c := newClient(t, b)
		c.queue("q", singleActive(true))
		low := c.consume("q", nil)
		c.put("", "q", "1", nil)
		first := c.take(1)[0]
		high := c.consume("q", func(s *shard.ConsumerSpec) { s.Priority = 1 })
		c.put("", "q", "2", nil)
		synctest.Wait()
		if len(c.got) != 0 || first.Consumer != low {
			t.Fatalf("%q delivered while the first has one out", bodies(c.got))
		}
		c.Ack(first.Queue, low, first.Handle, 1)
		c.Flush()
		if d := c.take(1)[0]; d.Consumer != high {
			t.Error("the higher priority did not take over")
		}
		c.Close()
		mustClose(t, b)
	})
}

func TestSingleActiveRefusesExclusive(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.queue("q", singleActive(false))
	if _, err := c.Consume(shard.ConsumerSpec{Queue: "q", Exclusive: true}); !errors.Is(err, ErrExclusiveConsumer) {
		t.Errorf("got %v", err)
	}
	c.Close()
	mustClose(t, b)
}
