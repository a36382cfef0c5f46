package broker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// words returns the test tap's message about an event, with its text.
func words(t *shard.Tapped) string {
	who := fmt.Sprintf("%s %s/%d", t.User, t.Client, t.Channel)
	if t.HandedOut {
		return fmt.Sprintf("%s got %s of %s redelivered=%v", who, t.Env.Body(), t.Queue, t.Redelivered)
	}
	return fmt.Sprintf("%s sent %s to %q for %v also %s", who, t.Env.Body(), t.Env.Exchange(), t.Queues, t.Also)
}

func tapOf(t *shard.Tapped) message.Envelope {
	props := message.Properties{}
	return append(message.AppendEnvelopeHeader(nil, routing.Tap, "told", props.Append(nil)), words(t)...)
}

// listen returns a separate client that listens to the tap.
func listen(t *testing.T, b *Broker) *client {
	t.Helper()
	c := newClient(t, b)
	c.queue("heard", func(s *QueueSpec) { s.Durable = false })
	must(t, c.Bind(BindSpec{Source: routing.Tap, Destination: "heard", Key: "#"}))
	_, err := c.Consume(shard.ConsumerSpec{Queue: "heard", NoAck: true})
	must(t, err)
	return c
}

// heard expects the next reports of the tap.
func (c *client) heard(want ...string) {
	c.t.Helper()
	var got []string
	for _, d := range c.take(len(want)) {
		got = append(got, string(d.Env.Body()))
	}
	if !slices.Equal(got, want) {
		c.t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTap publishes and delivers messages in every possible way.
func TestTap(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Tap = tapOf; o.Shards = 1 })
	c := newClient(t, b)
	c.client.Name = "c"
	c.queue("q", nil)
	c.queue("jobs", nil)
	c.queue("r", nil)
	heard := listen(t, b)
	c.put("", "q", "before", nil)
	must(t, b.SetTapped("/", true))

	consumer, err := c.Consume(shard.ConsumerSpec{Queue: "q", NoAck: true, Channel: 3})
	must(t, err)
	heard.heard("guest c/3 got before of q redelivered=false")
	c.Cancel(consumer)
	c.put("", "q", "m", nil)
	heard.heard(`guest c/0 sent m to "" for [q] also []`)
	d, _, _, err := c.GetOn(7, "q", false)
	must(t, err)
	c.Requeue(d.Queue, nil, d.Handle, 1)
	got := c.gets("q", 2)
	heard.heard("guest c/7 got m of q redelivered=false", "guest c/0 got m of q redelivered=true")
	c.Ack(got[0].Queue, nil, got[0].Handle, 1)

	c.do(&pushing{OnQueue: on("q"), Bodies: values("a", "b")}, &popping{OnQueue: on("q"), Max: 1}, &moving{OnQueue: on("q"), To: "r"})
	heard.heard(`guest c/0 sent a to "" for [q] also []`, `guest c/0 sent b to "" for [q] also []`, "guest c/0 got a of q redelivered=false",
		"guest c/0 got b of q redelivered=false", `guest c/0 sent b to "" for [r] also []`)
	c.do(&Post{OnQueue: on("r"), Env: bareEnvelope("r", []byte("posted"))})
	heard.heard(`guest c/0 sent posted to "" for [r] also []`)
	c.do(newAdd("s", 1, "entry"))
	heard.heard(`guest c/0 sent entry to "" for [s] also []`)

	c.named("q", "id", nil)
	d, _ = c.lendID("q", "id")
	heard.heard(`guest c/0 sent id to "" for [q] also []`, "guest c/0 got id of q redelivered=false")
	c.Ack(d.Queue, nil, d.Handle, 1)
	tx := c.NewTx()
	tx.Publish(&shard.Publish{Targets: shard.NewTargets([]*shard.Queue{d.Queue}), Env: bareEnvelope("q", []byte("in tx")), TTL: -1})
	must(t, tx.Commit())
	heard.heard(`guest c/0 sent in tx to "" for [q] also []`)
	c.post("", "nowhere", "lost", nil)
	c.Flush()
	heard.heard(`guest c/0 sent lost to "" for [] also []`)

	waiter := make(chan struct{})
	go func() {
		defer close(waiter)
		w := newClient(t, b)
		w.client.Name = "w"
		if _, err := w.Await(context.Background(), &popping{OnQueue: on("late"), Max: 1, Create: true}); err != nil {
			t.Error(err)
		}
	}()
	c.do(&pushing{OnQueue: on("late"), Bodies: values("awaited"), Create: true})
	<-waiter
	heard.heard(`guest c/0 sent awaited to "" for [late] also []`, "guest w/0 got awaited of late redelivered=false")

	must(t, b.SetTapped("/", false))
	c.put("", "q", "after", nil)
	must(t, b.SetTapped("/", true))
	c.put("", "q", "last", nil)
	heard.heard(`guest c/0 sent last to "" for [q] also []`)
	wantErr(t, "no such virtual host", b.SetTapped("none", true), ErrVHostNotFound)
}

// The tap reports neither what the server does by itself nor its own messages.
func TestTapLeavesOut(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Tap = tapOf })
	c := newClient(t, b)
	c.client.Name = "c"
	c.queue("dead", nil)
	c.queue("q", func(s *QueueSpec) {
		s.Policy.DeadLetter, s.Policy.DeadLetterKey, s.Policy.HasDeadLetterKey = true, "dead", true
	})
	heard := listen(t, b)
	must(t, b.SetTapped("/", true))
	c.put("", "q", "m", nil)
	heard.heard(`guest c/0 sent m to "" for [q] also []`)
	d, _, _, err := c.Get("q", false)
	must(t, err)
	heard.heard("guest c/0 got m of q redelivered=false")
	c.Reject(d.Queue, nil, d.Handle, 1)
	c.settled("q")
	c.settled("dead")
	if _, _, ok, err := c.Get("dead", true); !ok {
		t.Fatal("no dead letter", err)
	}
	heard.heard("guest c/0 got m of dead redelivered=false") // not what reached its own queue meanwhile
}

// Without a listener no report is built, and a tap that is off costs nothing.
func TestTapWithoutListeners(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) {
		o.Tap = func(t *shard.Tapped) message.Envelope { panic("nobody listens") }
	})
	c := newClient(t, b)
	c.queue("q", nil)
	must(t, b.SetTapped("/", true))
	c.put("", "q", "m", nil)
	if _, _, ok, err := c.Get("q", true); !ok {
		t.Fatal(err)
	}
	info, err := b.VHost("/")
	must(t, err)
	if !info.Tapped {
		t.Error("it does not tell that it is tapped")
	}
}
