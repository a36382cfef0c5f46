package broker

import (
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func TestTargetsWithout(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	must(t, c.DeclareExchange(ExchangeSpec{Name: "x", Type: "fanout"}))
	for _, q := range []string{"q1", "q2", "q3"} {
		c.queue(q, nil)
		must(t, c.Bind(BindSpec{Source: "x", Destination: q}))
	}
	all, err := c.Route([]byte("x"), nil, &message.Peek{}, nil)
	must(t, err)
	names := func(targets shard.Targets) (names []string) {
		for _, q := range targets.Queues() {
			names = append(names, q.Name)
		}
		slices.Sort(names)
		return names
	}
	sameStrings(t, names(all.Without("q2")), "q1", "q3")
	sameStrings(t, names(all.Without("q9")), "q1", "q2", "q3")
	if rest := all.Without("q1").Without("q2").Without("q3"); !rest.Empty() || rest.Parts() != 0 || all.Parts() != 2 {
		t.Errorf("left %v, all in %d parts", names(rest), all.Parts())
	}
	c.Close()
	mustClose(t, b)
}
