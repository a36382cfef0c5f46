package inspect

import (
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func TestLists(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c, other := enginetest.NewClient(t, b), enginetest.NewClient(t, b)
	c.Queue("b", nil)
	c.Queue("a", func(s *catalog.QueueSpec) { s.Durable, s.Exclusive = false, true })
	enginetest.Must(t, c.DeclareExchange(catalog.ExchangeSpec{Name: "x", Type: "topic"}))
	enginetest.Must(t, c.DeclareExchange(catalog.ExchangeSpec{Name: "y", Type: "fanout"}))
	args := message.Table{{Name: "k", Value: "v"}}
	enginetest.Must(t, c.Bind(catalog.BindSpec{Source: "x", Destination: "y", ToExchange: true, Key: "#"}))
	enginetest.Must(t, c.Bind(catalog.BindSpec{Source: "x", Destination: "b", Key: "k", Args: args}))
	for i := range 3 {
		c.Put("b", fmt.Sprint(i), nil)
	}
	if _, _, ok, err := c.Get("b", false); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if !c.HasQueue("a") || c.HasQueue("x") || !c.HasExchange("x") || c.HasExchange("a") {
		t.Error("a queue or an exchange is not known by its name")
	}
	all, err := Queues(other.Session)
	enginetest.Must(t, err)
	for i, want := range []QueueStatus{
		{Name: "a", Exclusive: true, Owner: c.Name, Declared: false},
		{Name: "b", Durable: true, Declared: true, Ready: 2, Unacked: 1, Bytes: 2, UnackedBytes: 1},
	} {
		got := all[i]
		if got.ID == 0 || got.Name == "b" && (got.Memory == 0 || got.Active == 0 || got.Counts.Published != 3) {
			t.Errorf("queue %+v", got)
		}
		got.ID, got.Memory, got.Active, got.Counts = 0, 0, 0, queue.Counts{}
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("queue %+v\nwant  %+v", got, want)
		}
	}
	one, err := Queue(c.Session, "a")
	enginetest.Must(t, err)
	if !one.Own {
		t.Error("the session does not know its own queue")
	}
	if _, err := Queue(c.Session, "none"); err == nil {
		t.Error("there is a queue that is not there")
	}
	want := "[{x b false k [{k v}]} {x y true # []}]"
	if got := fmt.Sprint(c.ListBindings()); got != want {
		t.Errorf("bindings %s\nwant     %s", got, want)
	}
}
