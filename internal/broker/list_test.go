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
	want := "[{a false true false [] 0 0 0 0 0 0} {b true false false [] 2 1 0 0 2 0}]"
	if got := fmt.Sprint(all); got != want {
		t.Errorf("queues %s\nwant   %s", got, want)
	}
	one, err := c.QueueStatus("a")
	must(t, err)
	if !one.Own {
		t.Error("the session does not know its own queue")
	}
	if _, err := c.QueueStatus("none"); err == nil {
		t.Error("there is a queue that is not there")
	}
	want = "[{x b false k [{k v}]} {x y true # []}]"
	if got := fmt.Sprint(c.ListBindings()); got != want {
		t.Errorf("bindings %s\nwant     %s", got, want)
	}
}
