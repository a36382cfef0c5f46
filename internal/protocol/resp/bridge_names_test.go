package resp

import (
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
)

// TestBridgeLeavesQueuesAlone checks that a subscription neither uses nor deletes queues of
// clients, whatever their names are.
func TestBridgeLeavesQueuesAlone(t *testing.T) {
	n := startNode(t, Options{})
	c, p := n.Dial(), n.Dial()
	s, err := n.Broker.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c.Wants("SUBSCRIBE first", `["subscribe" "first" 1]`)
	all, err := inspect.Queues(s)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	p.Wants("LPUSH redis.channel.2 precious", "1") // formerly the name of the next bridge's queue
	c.Wants("SUBSCRIBE second", `["subscribe" "second" 2]`)
	p.Wants("RPOP redis.channel.2", `"precious"`)
	post(t, s, "second", "", "from an exchange")
	if got := c.Reply(); got != `["message" "second" "from an exchange"]` {
		t.Error(got)
	}
	for _, q := range all {
		if _, err := inspect.Queue(s, q.Name); err != nil || len(q.Name) < 20 {
			t.Errorf("%q can be guessed, %v", q.Name, err)
		}
	}
}

// TestPublishInAnAlarm checks that messages that would be kept in queues are refused during an
// alarm, and that messages only for subscribers are not.
func TestPublishInAnAlarm(t *testing.T) {
	n := startNodeOn(t, Options{}, broker.Options{DiskFreeLimit: -1, MemoryLimit: 1})
	s, err := n.Broker.Operate("/")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.DeclareExchange(catalog.ExchangeSpec{Name: "kept", Type: "fanout", Durable: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeclareQueue(catalog.QueueSpec{Name: "q", Durable: true, Policy: catalog.DefaultQueuePolicy()}); err != nil {
		t.Fatal(err)
	}
	if err := s.Bind(catalog.BindSpec{Source: "kept", Destination: "q"}); err != nil {
		t.Fatal(err)
	}
	n.untilAlarm()
	c, p := n.Dial(), n.Dial()
	c.Wants("SUBSCRIBE kept", `["subscribe" "kept" 1]`)
	c.Wants("SUBSCRIBE other", `["subscribe" "other" 2]`)
	p.Wants("PUBLISH kept x", "-"+string(command.ErrOOM))
	p.Wants("PUBLISH other x", "1")
	if got := c.Reply(); got != `["message" "other" "x"]` {
		t.Error(got)
	}
	if st, err := inspect.Queue(s, "q"); err != nil || st.Ready != 0 {
		t.Errorf("%d messages were kept, %v", st.Ready, err)
	}
}

// untilAlarm fills a queue until the memory alarm is active.
func (n *node) untilAlarm() {
	n.T.Helper()
	c := n.Dial()
	for n.Broker.Alarm() == nil {
		c.Do("LPUSH", "full", "x")
	}
}
