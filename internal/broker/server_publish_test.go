package broker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

var root = VHostID{Name: "/"}

// emit returns a message of the server to an exchange of "/".
func emit(exchange, key, body string, headers ...message.Field) *ServerPublish {
	props := message.Properties{Flags: message.HasDeliveryMode | message.HasHeaders, DeliveryMode: 2, Headers: headers}
	return &ServerPublish{VHost: root, Env: append(message.AppendEnvelopeHeader(nil, exchange, key, props.Append(nil)), body...)}
}

// bound declares queues that are bound to an exchange with a key each, on the shards in turn.
func (c *client) bound(exchange string, keys ...string) {
	c.t.Helper()
	must(c.t, c.DeclareExchange(ExchangeSpec{Name: exchange, Type: "topic", Durable: true}))
	for i, key := range keys {
		c.queue(fmt.Sprint("q", i), nil)
		must(c.t, c.Bind(BindSpec{Source: exchange, Destination: fmt.Sprint("q", i), Key: key}))
	}
}

// A message of the server is in its queues together with the entry, on several shards, behind other
// changes, and after a restart.
func TestEmit(t *testing.T) {
	mem := vfs.NewMem()
	a := newTally()
	b := openBroker(t, mem, withMachine(a))
	c := newClient(t, b)
	c.bound("events", "#", "a.*", "*.one", "b.#")
	must(t, c.DoAll(emit("events", "a.one", "1"), emit("events", "b.two", "2"), note("x"), post("q0", "post"), emit("none", "", "3")))
	sameStrings(t, c.drain("q0"), "post", "1", "2")
	sameStrings(t, c.drain("q1"), "1")
	sameStrings(t, a.entries(), "x")
	tx := c.NewTx()
	tx.ServerPublish(emit("events", "a.one", "4"))
	tx.Piggyback(note("y"))
	tx.Publish(c.message("q1", "post"))
	must(t, tx.Commit())
	sameStrings(t, c.drain("q0"), "4")
	sameStrings(t, c.drain("q1"), "post", "4")
	must(t, c.DoAll(emit("events", "elsewhere", "5")))
	want, err := b.Hash()
	must(t, err)
	syncAll(t, b)
	disk := crashed(mem)
	c.Close()
	mustClose(t, b)
	b = openBroker(t, disk, withMachine(newTally()))
	defer mustClose(t, b)
	if got, err := b.Hash(); err != nil || got != want {
		t.Errorf("hash %x, want %x, %v", got, want, err)
	}
	c = newClient(t, b)
	defer c.Close()
	sameStrings(t, c.drain("q0"), "5")
	sameStrings(t, c.drain("q2"), "1", "4")
	sameStrings(t, c.drain("q3"), "2")
}

// A full queue does not get the message and causes no failure. Required commands come first.
func TestEmitToAFullQueue(t *testing.T) {
	a := newTally()
	b := openBroker(t, vfs.NewMem(), withMachine(a))
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.bound("events", "#", "#")
	c.queue("full", func(s *QueueSpec) { s.Policy.MaxLength, s.Policy.Overflow = 2, RejectPublish })
	must(t, c.Bind(BindSpec{Source: "events", Destination: "full", Key: "#"}))
	must(t, c.DoAll(emit("events", "k", "e1"), emit("events", "k", "e2"), note("x"), post("full", "p1")))
	tx := c.NewTx()
	tx.ServerPublish(emit("events", "k", "e3"))
	tx.Piggyback(note("y"))
	must(t, tx.Commit())
	sameStrings(t, c.drain("full"), "p1", "e1")
	tx = c.NewTx()
	tx.ServerPublish(emit("events", "k", "e4"))
	tx.ServerPublish(emit("events", "k", "e5"))
	tx.Publish(c.message("full", "p2"))
	tx.Publish(c.message("full", "p3"))
	must(t, tx.Commit())
	sameStrings(t, c.drain("full"), "p2", "p3")
	sameStrings(t, c.drain("q0"), "e1", "e2", "e3", "e4", "e5")
	sameStrings(t, c.drain("q1"), "e1", "e2", "e3", "e4", "e5")
	sameStrings(t, a.entries(), "x", "y")
}

// A refused group publishes nothing, nor does one behind an unmet condition.
func TestEmitRefused(t *testing.T) {
	a := newTally()
	b := openBroker(t, vfs.NewMem(), withMachine(a))
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.bound("events", "#", "#")
	c.queue("full", func(s *QueueSpec) { s.Policy.MaxLength, s.Policy.Overflow = 0, RejectPublish })
	if err := c.DoAll(emit("events", "k", "no"), note("no"), post("full", "no")); !errors.Is(err, ErrRejected) {
		t.Error(err)
	}
	for _, posts := range []int{1, 2} { // on one shard, and on both
		tx := c.NewTx()
		tx.ServerPublish(emit("events", "k", "no"))
		tx.Piggyback(note("no"))
		for i := range posts {
			tx.Publish(c.message(fmt.Sprint("q", i), "no"))
		}
		tx.Publish(c.message("full", "no"))
		if err := tx.Commit(); !errors.Is(err, ErrRejected) {
			t.Error(err)
		}
	}
	c.push("q0", "x")
	d, _, _, err := c.Get("q0", true)
	must(t, err)
	stale := &Unchanged{OnQueue: OnQueue{Queue: d.Queue.Name}, Since: shard.QueueVersion{Changes: 1}}
	must(t, c.DoAll(emit("events", "k", "yes"), stale, emit("events", "k", "no"), note("no")))
	b.groupBytes = 1000
	if err := c.DoAll(note("no"), emit("events", "k", strings.Repeat("x", 600))); !errors.Is(err, ErrTooLarge) { // on two shards
		t.Error(err)
	}
	sameStrings(t, c.drain("q0"), "yes")
	sameStrings(t, c.drain("q1"), "yes")
	sameStrings(t, a.entries())
}

// It is routed like any message: alternate exchanges, exchange-to-exchange bindings, exchanges that
// hold messages, streams, internal exchanges.
func TestEmitIsRouted(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), withMachine(newTally()))
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.bound("second", "#", "#")
	policy := DefaultQueuePolicy()
	policy.Deduplicate = true
	delayed := message.Table{{Name: "x-delayed-type", Value: "fanout"}}
	for _, x := range []ExchangeSpec{
		{Name: "alternate", Type: "topic", Durable: true, Alternate: "second"},
		{Name: "chain", Type: "fanout", Durable: true},
		{Name: "inner", Type: "fanout", Durable: true, Internal: true},
		{Name: "later", Type: "x-delayed-message", Durable: true, Args: delayed},
		{Name: "once", Type: "fanout", Durable: true, Buffer: policy},
	} {
		must(t, c.DeclareExchange(x))
		if x.Name != "alternate" {
			must(t, c.Bind(BindSpec{Source: x.Name, Destination: "second", ToExchange: true}))
		}
	}
	var want []string
	for _, x := range []string{"alternate", "chain", "inner", "later"} {
		must(t, c.DoAll(emit(x, "k", x), note("x")))
		want = append(want, x)
	}
	key := message.Field{Name: policy.DedupHeader, Value: "1"}
	must(t, c.DoAll(emit("once", "k", "once", key), emit("once", "k", "twice", key), note("x")))
	sameStrings(t, c.drainWait("q0", len(want)+1), append(want, "once")...) // the buffer forwards a little later
	sameStrings(t, c.drain("q0"))
	peek := message.Peek{}
	if _, err := c.Route([]byte("inner"), []byte("k"), &peek, nil); !errors.Is(err, ErrInternalExchange) {
		t.Errorf("a client may publish where the server did: %v", err)
	}
	must(t, c.Do(newAdd("s", 1, "first")))
	must(t, c.Bind(BindSpec{Source: "second", Destination: "s", Key: "#"}))
	must(t, c.DoAll(emit("second", "k", "entry"), note("x")))
	must(t, c.Do(&probe{OnQueue: on("s"), fn: func() {
		q, _ := c.vhost.Queue("s")
		if n := shard.ContextOf(q).Content().Stream.Len(); n != 2 {
			t.Errorf("%d entries in the stream", n)
		}
	}}))
}

// A virtual host that is created again is a different one.
func TestEmitToAVirtualHost(t *testing.T) {
	mem := vfs.NewMem()
	b := openBroker(t, mem, withMachine(newTally()))
	operator, err := b.Operate("/")
	must(t, err)
	declare := func() VHostID {
		must(t, put1(b.PutVHost(VHostSpec{Name: "v"})))
		must(t, put1(b.PutVHost(VHostSpec{Name: "v", Description: "described"})))
		must(t, put1(b.SetPermission(Permission{User: "guest", VHost: "v", Configure: ".*", Write: ".*", Read: ".*"})))
		c := newClientOn(t, b, "guest", "v")
		c.bound("events", "#")
		return c.VHostID()
	}
	to := func(id VHostID, body string) {
		e := emit("events", "k", body)
		e.VHost = id
		must(t, operator.DoAll(e, note(body)))
	}
	var told []VHostID
	b.OnVHostDeleted(func(id VHostID) { told = append(told, id) })
	first := declare()
	to(first, "first")
	if !b.HasVHost(first) || !b.Listens(first, "events") || b.Listens(first, "none") || b.Listens(first, "amq.topic") {
		t.Error("a virtual host that is there is not known")
	}
	must(t, b.DeleteVHost("v"))
	second := declare()
	to(first, "lost")
	to(second, "second")
	if !slices.Equal(told, []VHostID{first}) || first == second || b.HasVHost(first) || b.Listens(first, "events") || !b.HasVHost(second) {
		t.Errorf("first %v, second %v, told of %v", first, second, told)
	}
	for range 2 {
		b.checkpointDue(true)
		mustClose(t, b)
		b = openBroker(t, mem, withMachine(newTally()))
		if !b.HasVHost(second) || !b.HasVHost(root) {
			t.Error("not known after a restart")
		}
	}
	c := newClientOn(t, b, "guest", "v")
	sameStrings(t, c.drain("q0"), "second")
	c.Close()
	mustClose(t, b)
}

// A group with entries of two state machines is complete once both have applied theirs.
func TestEntriesOfTwoMachines(t *testing.T) {
	mem := vfs.NewMem()
	keys, others := newTally(), newTally()
	both := func(o *Options) {
		o.StateMachines = map[uint32]statemachine.Machine{statemachine.Keys: keys, statemachine.Semaphores: others}
	}
	b := openBroker(t, mem, both)
	c := newClient(t, b)
	c.bound("events", "#", "#")
	other := func(entry string) *PiggybackedEntry {
		return &PiggybackedEntry{Machine: statemachine.Semaphores, Entry: []byte(entry)}
	}
	recordEntry(t, b, "k1")
	first, second := note("k2"), other("o1")
	must(t, c.DoAll(first, second, other("o2")))
	must(t, c.DoAll(other("o3"), emit("events", "k", "e"), note("k3")))
	tx := c.NewTx()
	for _, n := range []*PiggybackedEntry{other("o4"), note("k4")} {
		tx.Piggyback(n)
	}
	must(t, tx.Commit())
	if first.Index != 2 || second.Index != 1 {
		t.Errorf("indexes %d, %d", first.Index, second.Index)
	}
	if err := c.DoAll(&PiggybackedEntry{Machine: statemachine.Semaphores + 1}); !errors.Is(err, statemachine.ErrUnknown) {
		t.Errorf("no such machine: %v", err)
	}
	for _, clean := range []bool{false, true} {
		sameStrings(t, keys.entries(), "k1", "k2", "k3", "k4")
		sameStrings(t, others.entries(), "o1", "o2", "o3", "o4")
		if clean {
			mustClose(t, b)
		} else {
			mem = crashed(mem)
		}
		keys, others = newTally(), newTally()
		b = openBroker(t, mem, both)
	}
	if keys.restored != 4 || others.restored != 4 {
		t.Errorf("%d and %d entries are from the checkpoints of a clean stop", keys.restored, others.restored)
	}
	mustClose(t, b)
}
