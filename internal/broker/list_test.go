package broker

import (
	"fmt"
	"testing"

	"fiveways/internal/core/message"
	"fiveways/internal/storage/vfs"
)

func TestLists(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c, other := newClient(t, b), newClient(t, b)
	c.queue("b", nil)
	c.queue("a", func(s *QueueSpec) { s.Durable, s.Exclusive = false, true })
	must(t, c.DeclareExchange(ExchangeSpec{Name: "x", Type: "topic"}))
	must(t, c.DeclareExchange(ExchangeSpec{Name: "y", Type: "fanout"}))
	args := message.Table{{Name: "k", Value: "v"}}
	must(t, c.Bind(BindSpec{Source: "x", Destination: "y", ToExchange: true, Key: "#"}))
	must(t, c.Bind(BindSpec{Source: "x", Destination: "b", Key: "k", Args: args}))
	for i := range 3 {
		c.put("", "b", fmt.Sprint(i), nil)
	}
	if _, _, ok, err := c.Get("b", false); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if !c.HasQueue("a") || c.HasQueue("x") || !c.HasExchange("x") || c.HasExchange("a") {
		t.Error("a queue or an exchange is not known by its name")
	}
	all, err := other.ListQueues()
	must(t, err)
	for i, want := range []QueueStatus{
		{Name: "a", Exclusive: true, Owner: c.Name, Declared: false},
		{Name: "b", Durable: true, Declared: true, Ready: 2, Unacked: 1, Bytes: 2, UnackedBytes: 1},
	} {
		got := all[i]
		if got.ID == 0 || got.Name == "b" && (got.Memory == 0 || got.Active == 0 || got.Counts.Published != 3) {
			t.Errorf("queue %+v", got)
		}
		got.ID, got.Memory, got.Active, got.Counts = 0, 0, 0, Counts{}
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("queue %+v\nwant  %+v", got, want)
		}
	}
	one, err := c.QueueStatus("a")
	must(t, err)
	if !one.Own {
		t.Error("the session does not know its own queue")
	}
	if _, err := c.QueueStatus("none"); err == nil {
		t.Error("there is a queue that is not there")
	}
	want := "[{x b false k [{k v}]} {x y true # []}]"
	if got := fmt.Sprint(c.ListBindings()); got != want {
		t.Errorf("bindings %s\nwant     %s", got, want)
	}
}

// TestDefinedQueuesAreInOrder: queues that were declared together are where others look for the ids
// of their messages.
func TestDefinedQueuesAreInOrder(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	policy := DefaultQueuePolicy()
	policy.ConsumeAfter = true
	for i := range 4 {
		var d Definitions
		d.DeclareQueue(QueueSpec{Name: fmt.Sprint("q", i), Durable: true, Policy: policy})
		must(t, c.Define(&d))
		c.queue(fmt.Sprint("other", i), nil)
	}
	id := message.Properties{Flags: message.HasMessageID, MessageID: "one"}
	c.postProps("", "q2", "", id, nil)
	if c.Flush(); !c.Alive("one") {
		t.Error("a message is not known by its id")
	}
	id.MessageID, id.Flags = "two", id.Flags|message.HasHeaders
	id.Headers = message.Table{{Name: "consume_after", Value: "one"}}
	c.postProps("", "q3", "", id, nil)
	c.Flush()
	if _, _, ok, _ := c.Get("q3", true); ok {
		t.Error("a message did not wait for one of another queue")
	}
}
