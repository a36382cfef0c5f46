package broker

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// makeTopic declares a queue and an exchange with its name in one change.
func makeTopic(d *Definitions, name string) {
	d.DeclareQueue(QueueSpec{Name: name, Durable: true, Policy: DefaultQueuePolicy()})
	d.DeclareExchange(ExchangeSpec{Name: name, Type: "fanout", Durable: true})
	d.Bind(BindSpec{Source: name, Destination: name})
	d.SetParameter("mbus", name, json.RawMessage("1"))
}

func dropTopic(d *Definitions, name string) {
	d.DeleteQueue(name)
	d.DeleteExchange(name)
	d.DeleteParameter("mbus", name)
}

// parts counts the definitions of a topic that exist.
func parts(b *Broker, name string) (n int) {
	v, _ := b.vhost("/")
	if q, ok := v.Queue(name); ok {
		n++
		for range v.Table().BindingsTo(routing.Destination{Queue: routing.QueueID(q.ID)}) {
			n++
		}
	}
	if _, ok := v.Table().Exchange(name); ok {
		n++
	}
	if _, ok := b.Parameter("/", "mbus", name); ok {
		n++
	}
	return n
}

// Several definitions are one change: they work, are deleted together, and survive a restart.
func TestDefine(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, nil)
	c := newClient(t, b)
	before := b.Stats().Log.Groups
	var d Definitions
	makeTopic(&d, "a")
	makeTopic(&d, "b")
	d.Bind(BindSpec{Source: "a", Destination: "b", ToExchange: true})
	must(t, c.Define(&d))
	if n := b.Stats().Log.Groups - before; n > 3 { // one group, and the first of each shard
		t.Errorf("%d groups were written", n)
	}
	c.put("a", "", "m", nil)
	must(t, c.Define(&d)) // again: everything exists already
	sameStrings(t, bodies(c.gets("a", 9)), "m")
	hash, err := b.Hash()
	must(t, err)
	c.Close()
	mustClose(t, b)
	b = openBroker(t, fs, nil)
	if again, _ := b.Hash(); again != hash {
		t.Error("another hash after the restart")
	}
	c = newClient(t, b)
	k := c.consume("b", nil)
	sameStrings(t, bodies(c.take(1)), "m")
	var gone Definitions
	dropTopic(&gone, "b")
	dropTopic(&gone, "never there")
	gone.Unbind(BindSpec{Source: "a", Destination: "nowhere"})
	must(t, c.Define(&gone))
	if parts(b, "a") != 4 || parts(b, "b") != 0 {
		t.Errorf("%d and %d parts are left", parts(b, "a"), parts(b, "b"))
	}
	if len(c.cancelled) != 1 || c.cancelled[0] != k {
		t.Error("the consumer was not told")
	}
	if n := b.Stats().Queues; n != 1 {
		t.Errorf("%d queues are counted", n)
	}
	c.Close()
	mustClose(t, b)
}

// If one change fails, none is made.
func TestDefineAllOrNothing(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c := newClient(t, b)
	c.queue("there", nil)
	must(t, b.SetVHostLimit("/", LimitQueues, 4))
	hash, err := b.Hash()
	must(t, err)
	table := c.vhost.Table()
	for name, k := range map[string]struct {
		add  func(*Definitions)
		want error
	}{
		"another queue": {func(d *Definitions) { d.DeclareQueue(QueueSpec{Name: "there", Policy: DefaultQueuePolicy()}) }, ErrInequivalent},
		"no source":     {func(d *Definitions) { d.Bind(BindSpec{Source: "nowhere", Destination: "new"}) }, ErrExchangeNotFound},
		"no queue":      {func(d *Definitions) { d.Bind(BindSpec{Source: "new", Destination: "nowhere"}) }, ErrQueueNotFound},
		"no condition": {func(d *Definitions) {
			d.Bind(BindSpec{Source: "new", Destination: "new", Args: message.Table{{Name: "x-selector", Value: "("}}})
		}, ErrInvalidBinding},
		"default exchange": {func(d *Definitions) { d.DeleteExchange("") }, ErrDefaultExchange},
		"reserved name":    {func(d *Definitions) { d.DeclareExchange(ExchangeSpec{Name: "amq.x", Type: "fanout"}) }, ErrReservedName},
		"no JSON":          {func(d *Definitions) { d.SetParameter("mbus", "p", json.RawMessage("{")) }, ErrInvalidParameter},
		"too many":         {func(d *Definitions) { makeTopic(d, "n1"); makeTopic(d, "n2"); makeTopic(d, "n3") }, ErrQueueLimit},
		"asked":            {func(d *Definitions) { d.DeclareQueue(QueueSpec{Name: "nowhere", Passive: true}) }, ErrQueueNotFound},
	} {
		var d Definitions
		makeTopic(&d, "new")
		d.DeclareExchange(ExchangeSpec{
			Name: "late", Type: "x-delayed-message", Durable: true, Args: message.Table{{Name: "x-delayed-type", Value: "fanout"}},
		})
		d.SetParameter("mbus", "there", json.RawMessage("1"))
		k.add(&d)
		dropTopic(&d, "there")
		if err := c.Define(&d); !errors.Is(err, k.want) {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := b.Hash(); got != hash || c.vhost.Table() != table || b.Stats().Queues != 1 {
			t.Errorf("%s: something has changed, %d queues", name, b.Stats().Queues)
		}
	}
	var d Definitions
	makeTopic(&d, "new")
	_, err = b.SetPermission(Permission{User: "guest", VHost: "/", Configure: "^other", Write: ".*", Read: ".*"})
	must(t, err)
	if err := c.Define(&d); !errors.Is(err, ErrAccessRefused) || parts(b, "new") != 0 {
		t.Errorf("without a permission: %v, %d parts", err, parts(b, "new"))
	}
	c.Close()
	mustClose(t, b)
}

// Exclusive definitions, including an exchange that holds messages, are deleted with their session.
func TestDefineExclusiveAndBuffers(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	c, other := newClient(t, b), newClient(t, b)
	var d Definitions
	d.DeclareQueue(QueueSpec{Name: "own", Exclusive: true, Policy: DefaultQueuePolicy()})
	d.DeclareExchange(ExchangeSpec{Name: "auto", Type: "fanout", AutoDelete: true})
	d.DeclareExchange(ExchangeSpec{
		Name: "late", Type: "x-delayed-message", Durable: true, Args: message.Table{{Name: "x-delayed-type", Value: "fanout"}},
	})
	d.Bind(BindSpec{Source: "auto", Destination: "own"})
	must(t, c.Define(&d))
	var foreign Definitions
	foreign.DeleteQueue("own")
	if err := other.Define(&foreign); !errors.Is(err, ErrExclusive) {
		t.Errorf("deletion by another: %v", err)
	}
	c.show("late", "held", message.Field{Name: "x-delay", Value: int32(100_000)})
	if n := b.Stats().Queues; n != 2 {
		t.Errorf("%d queues", n)
	}
	var gone Definitions
	gone.DeleteQueue("own")
	gone.DeleteExchange("late")
	must(t, c.Define(&gone))
	if _, ok := c.vhost.Table().Exchange("auto"); ok || b.Stats().Queues != 0 || c.vhost.Info().Queues != 0 {
		t.Errorf("something is left: %d queues", b.Stats().Queues)
	}
	must(t, c.Define(&d))
	c.Close()
	if _, ok := other.vhost.Queue("own"); ok {
		t.Error("the queue did not go with its session")
	}
	other.Close()
	mustClose(t, b)
}

// A power failure at any operation leaves a whole topic or none.
func TestDefineCrash(t *testing.T) {
	for k := 1; ; k++ {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		fs.CrashAt(k)
		done := map[string]int{}
		if b, err := tryOpen(fs, func(*Options) {}); err == nil {
			c := newClient(t, b)
			for i := range 6 {
				name := fmt.Sprint("t", i)
				var d Definitions
				makeTopic(&d, name)
				if c.Define(&d) != nil {
					break
				}
				done[name] = 4
				if i%2 == 1 {
					var gone Definitions
					dropTopic(&gone, name)
					makeTopic(&gone, name+"-new")
					if done[name] = -1; c.Define(&gone) != nil {
						break
					}
					done[name], done[name+"-new"] = 0, 4
				}
				if i == 3 && b.journal.Checkpoint(b.set.Store) != nil {
					break
				}
			}
			b.Close()
		}
		b := openBroker(t, mem.CrashClone(rand.New(rand.NewPCG(uint64(k), 1))), nil)
		for i := range 6 {
			name := fmt.Sprint("t", i)
			old, replaced := parts(b, name), parts(b, name+"-new")
			if old != 0 && old != 4 || replaced != 0 && replaced != 4 || old+replaced > 4 {
				t.Fatalf("crash at operation %d: %s has %d parts, the new one %d", k, name, old, replaced)
			}
			if want, ok := done[name]; ok && want >= 0 && old != want || replaced < done[name+"-new"] {
				t.Fatalf("crash at operation %d: %s has %d parts, the new one %d; promised were %v", k, name, old, replaced, done)
			}
		}
		mustClose(t, b)
		if !fs.Crashed() {
			return
		}
	}
}

// Many goroutines add and remove tags at once, and no change is lost.
func TestUserTags(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	_, err := b.PutUser(UserSpec{Name: "u", Tags: []string{"old", "monitoring"}})
	must(t, err)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := b.AddUserTag("u", fmt.Sprint("role", i)); err != nil {
				t.Error(err)
			}
			if i%2 == 0 {
				if err := b.RemoveUserTag("u", fmt.Sprint("role", i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	must(t, b.RemoveUserTag("u", "old"))
	must(t, b.AddUserTag("u", "role1"))
	u, err := b.User("u")
	must(t, err)
	want := []string{"monitoring"}
	for i := 1; i < 20; i += 2 {
		want = append(want, fmt.Sprint("role", i))
	}
	slices.Sort(u.Tags)
	slices.Sort(want)
	sameStrings(t, u.Tags, want...)
	if err := b.AddUserTag("nobody", "x"); !errors.Is(err, ErrUserNotFound) {
		t.Error(err)
	}
	if err := b.AddUserTag("u", " "); !errors.Is(err, ErrInvalidName) {
		t.Error(err)
	}
	mustClose(t, b)
}

// TestDefinedQueuesAreInOrder: queues declared in one change take part in the order, so that other
// queues find the ids of their messages.
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
