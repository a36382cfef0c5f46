package semaphores

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// declare declares a queue with a length limit that rejects more messages; 0: no limit.
func (n *node) declare(queue string, limit int64) {
	n.Helper()
	p := catalog.DefaultQueuePolicy()
	if limit > 0 {
		p.MaxLength, p.Overflow = limit, catalog.RejectPublish
	}
	_, err := n.s.DeclareQueue(catalog.QueueSpec{Name: queue, Durable: true, Policy: p})
	n.must(err)
}

// post adds a message for a queue to a transaction.
func (n *node) post(tx *broker.Tx, queue string) {
	n.Helper()
	props := (&message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: message.Persistent}).Append(nil)
	peek, err := message.PeekProperties(props)
	n.must(err)
	to, err := n.s.Route(nil, []byte(queue), &peek, nil)
	n.must(err)
	env := append(message.AppendEnvelopeHeader(nil, "", queue, props), "hello"...)
	tx.Publish(&shard.Publish{Targets: to, Env: env, Persistent: true, TTL: -1})
}

func (n *node) count(queue string) int {
	n.Helper()
	c := &broker.Count{OnQueue: broker.OnQueue{Queue: queue}}
	n.must(n.s.Do(c))
	n.must(c.Err)
	return c.Ready
}

// A transaction and the changes in its group are committed together or not at all.
func TestTransaction(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.listen()
	n.create("k", 1, 0)
	n.declare("q", 1)
	for i, want := range []error{nil, failure.ErrRejected} {
		tx := n.s.NewTx()
		n.post(tx, "q")
		c := &Enqueue{Of: Of{Key: "k"}, Entries: entries(fmt.Sprint("t", i, " 1"))}
		if err := n.m.DoWith(n.s, Group{Tx: tx}, c); want == nil {
			n.must(err)
		} else {
			n.fails(err, want)
		}
	}
	check := func() {
		n.Helper()
		n.shows("k", "t0:ACQUIRED")
		n.same("messages", n.count("q"), 1)
		n.same("events", n.count("events"), 1)
	}
	check()
	n = n.crash()
	check()

	tx := n.s.NewTx()
	n.post(tx, "other")
	n.fails(n.m.DoWith(n.s, Group{Tx: tx, Must: true}, &Release{Of: Of{Key: "none"}}), ErrNotFound)
	n.same("messages", n.count("other"), 1)
	n.close()
}

// A required command that fails rejects the changes.
func TestCommandsOfAGroup(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.listen()
	n.create("k", 1, 0)
	push := &lists.Push{OnQueue: broker.OnQueue{Queue: "other"}, Bodies: [][]byte{[]byte("y")}}
	n.must(n.m.DoWith(n.s, Group{Commands: []broker.Command{push}}, &Enqueue{Of: Of{Key: "k"}, Entries: entries("a 1")}))
	n.must(push.Err)
	n = n.crash()
	n.shows("k", "a:ACQUIRED")
	n.same("messages", n.count("other"), 2)
	n.close()
}

func TestLimits(t *testing.T) {
	n := open(t, vfs.NewMem(), func(_ *broker.Options, o *Options) { o.MaxBytes = 100_000 })
	n.create("k", 1, 0)
	fails := func(c Change, want error) {
		n.Helper()
		n.must(n.m.Do(n.s, c))
		n.fails(c.of().Err, want)
	}
	k := Of{Key: "k"}
	nan, inf, long := entries("a NaN"), entries("a -Inf"), make([]byte, 256)
	for i := range long {
		long[i] = 'x'
	}
	minus, huge, minusMS := -1, 1<<31, int64(-1)
	for _, c := range []Change{
		&Create{Of: Of{Key: ""}}, &Create{Of: Of{Key: string(long[:201])}}, &Create{Of: Of{Key: "a/b"}}, &Create{Of: Of{Key: "a\x00"}}, &Create{Of: Of{Key: "\xff"}},
		&Create{Of: k, Settings: Settings{Active: &minus}}, &Create{Of: k, Settings: Settings{TryRelease: &huge}}, &Update{Of: k, Settings: Settings{Lease: &minusMS}},
		&Enqueue{Of: k, Entries: nan}, &Enqueue{Of: k, Entries: inf}, &Enqueue{Of: k, Entries: []Entry{{Task: string(long)}}}, &Enqueue{Of: k, Entries: []Entry{{Task: "a", Lease: -1}}},
		&Enqueue{Of: k, Entries: []Entry{{Task: ""}}}, &Release{Of: k, Tasks: []string{"\n"}}, &Status{Of: k, Tasks: []string{"\xc0"}}, &Expect{Of: k, Task: "\x7f"},
	} {
		fails(c, ErrInvalid)
	}
	fails(&Enqueue{Of: k, Entries: make([]Entry, MaxEntries+1)}, failure.ErrTooLarge)
	fails(&Release{Of: k, Tasks: make([]string, MaxEntries+1)}, failure.ErrTooLarge)
	fails(&Enqueue{Of: Of{Key: "none"}, Entries: entries("a 1")}, ErrNotFound)
	n.do(&Delete{Of: Of{Key: "none"}})
	n.do(&Create{Of: Of{Key: string(long[:200])}})
	n.do(&Enqueue{Of: k, Entries: []Entry{{Task: string(long[:255])}, {Task: "a/b c"}}})
	fails(&Delete{Of: k, IfEmpty: true}, ErrNotEmpty)
	up := true
	fails(&Update{Of: k, Settings: Settings{Ascending: &up}}, ErrOrder)

	for i := 0; ; i++ {
		c := &Enqueue{Of: k, Entries: []Entry{{Task: fmt.Sprint(i)}}}
		if n.must(n.m.Do(n.s, c)); c.Err != nil {
			n.fails(c.Err, ErrTooMany)
			break
		}
		if i > 5000 {
			t.Fatal("no bound")
		}
	}
	fails(&Create{Of: Of{Key: "more"}}, ErrTooMany)
	fails(&Update{Of: Of{Key: "more"}, Create: true}, ErrTooMany)
	n.enqueue("k", "0 5", "1 6") // an existing task may change its priority
	n.release("k", "0", "1")     // changes that free memory always work
	n.close()
}

// A request that may be too large for the log begins a round, so that no other request fails with
// it.
func TestLargeRequestBeginsARound(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.create("k", 1, 0)
	asks := func(tasks int, prefix string) *request {
		c := &Enqueue{Of: Of{Key: "k"}}
		for i := range tasks {
			c.Entries = append(c.Entries, Entry{Task: fmt.Sprint(prefix, i)})
		}
		return &request{s: n.s, changes: []Change{c}}
	}
	small, large, wide := asks(2, ""), asks(2000, ""), asks(700, strings.Repeat("x", 250))
	n.same("done of small, small, large, small", n.m.round([]*request{small, small, large, small}), 2)
	n.same("done of large", n.m.round([]*request{large, small}), 2)
	n.same("done of wide, until its bytes fill the group", n.m.round([]*request{wide, asks(700, strings.Repeat("y", 250)), small}), 2)
	n.close()
}

// While the disk is low on space nothing is added. Existing tasks can be changed and released.
func TestDiskShort(t *testing.T) {
	n := open(t, vfs.NewMem())
	n.create("k", 1, 0)
	n.enqueue("k", "a 1", "b 2")
	n = n.crash(func(o *broker.Options, _ *Options) { o.DiskFreeLimit = 1 << 62 })
	late := time.After(10 * time.Second)
	for round := time.NewTicker(10 * time.Millisecond); n.b.Alarm() == nil; {
		select {
		case <-round.C:
		case <-late:
			t.Fatal("no alarm")
		}
	}
	for _, c := range []Change{
		&Create{Of: Of{Key: "other"}}, &Update{Of: Of{Key: "other"}, Create: true}, &Enqueue{Of: Of{Key: "k"}, Entries: entries("a 1", "c 3")},
	} {
		n.must(n.m.Do(n.s, c))
		n.fails(c.of().Err, ErrDiskFull)
	}
	n.do(&Create{Of: Of{Key: "k"}})
	n.enqueue("k", "a 3")
	n.release("k", "b")
	n.shows("k", "a:ACQUIRED")
	n.close()
}
