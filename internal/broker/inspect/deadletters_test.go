package inspect

import (
	"maps"
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Dead letters go through the default exchange to the queue of their key, through a direct one to
// those that are bound with it, and through others to all that are bound.
func TestDeadLetterQueues(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	dead := func(exchange, key string) func(*catalog.QueueSpec) {
		return func(s *catalog.QueueSpec) {
			s.Policy.DeadLetter, s.Policy.DeadLetterExchange, s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, exchange, key != "", key
		}
	}
	for name, kind := range map[string]string{"fan": "fanout", "direct": "direct"} {
		enginetest.Must(t, c.DeclareExchange(catalog.ExchangeSpec{Name: name, Type: kind}))
	}
	for _, name := range []string{"default.dead", "fan.dead", "key.dead", "other.dead", "plain"} {
		c.Queue(name, nil)
	}
	c.Queue("a", dead("", "default.dead"))
	c.Queue("b", dead("fan", "any"))
	c.Queue("c", dead("direct", "key"))
	c.Queue("d", dead("", "d"))       // to itself
	c.Queue("e", dead("nowhere", "")) // an exchange that is not there
	enginetest.Must(t, c.Bind(catalog.BindSpec{Source: "fan", Destination: "fan.dead"}))
	enginetest.Must(t, c.Bind(catalog.BindSpec{Source: "direct", Destination: "key.dead", Key: "key"}))
	enginetest.Must(t, c.Bind(catalog.BindSpec{Source: "direct", Destination: "other.dead", Key: "other"}))
	at := func(names ...string) map[QueueName]bool {
		found := map[QueueName]bool{}
		for _, name := range names {
			found[QueueName{"/", name}] = true
		}
		return found
	}
	got := DeadLetterQueues(b, func(QueueName) bool { return true })
	if want := at("default.dead", "fan.dead", "key.dead"); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	got = DeadLetterQueues(b, func(q QueueName) bool { return q.Name == "c" })
	if want := at("key.dead"); !maps.Equal(got, want) {
		t.Errorf("of c %v, want %v", got, want)
	}
}
