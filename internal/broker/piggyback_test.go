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

// post returns a command that publishes a body to a queue.
func post(q, body string) *Post {
	return &Post{OnQueue: on(q), Env: bareEnvelope(q, []byte(body)), Persistent: true, TTL: -1, Create: true, Must: true}
}

// settle returns a command that ends a delivery, which must be held.
func settle(d shard.Delivery) *Settle {
	return &Settle{OnDelivery: OnDelivery{Of: d.Queue, Consumer: d.Consumer, Handle: d.Handle}, Must: true}
}

func note(entry string) *PiggybackedEntry {
	return &PiggybackedEntry{Machine: statemachine.Keys, Entry: []byte(entry)}
}

// The changes of queues and the machine's entries in a DoAll are atomic, also on several shards,
// and with entries only.
func TestNotes(t *testing.T) {
	mem := vfs.NewMem()
	a := newTally()
	b := openBroker(t, mem, withMachine(a))
	c := newClient(t, b)
	var queues []string
	for i := range 4 { // on both shards
		queues = append(queues, fmt.Sprint("q", i))
		c.queue(queues[i], nil)
	}
	recordEntry(t, b, "first")
	n1, n2 := note("second"), note("third")
	must(t, c.DoAll(post("q0", "a"), n1, post("q1", "b"), n2, post("q2", "c")))
	sameStrings(t, a.entries(), "first", "second", "third")
	if n1.Index != 2 || n2.Index != 3 {
		t.Errorf("indexes %d, %d", n1.Index, n2.Index)
	}
	alone := note("fourth")
	must(t, c.DoAll(alone))
	must(t, c.Do(post("q3", "d"), note("fifth")))
	if alone.Index != 4 || len(a.entries()) != 5 {
		t.Errorf("index %d, entries %q", alone.Index, a.entries())
	}

	d, _, _, err := c.Get("q0", false)
	must(t, err)
	first, again, kept := settle(d), settle(d), note("never")
	must(t, c.DoAll(first, post("q1", "out")))
	if err := c.DoAll(post("q1", "not"), again, kept); !errors.Is(err, ErrStale) || again.Held || kept.Index != 0 || !first.Held {
		t.Errorf("%v, held %v, index %d", err, again.Held, kept.Index)
	}
	stale := &Unchanged{OnQueue: OnQueue{Queue: "q0"}, Since: shard.QueueVersion{Changes: 1}}
	before := note("sixth")
	must(t, c.DoAll(before, stale, kept, post("q1", "not")))
	if !stale.Changed || before.Index != 6 || kept.Index != 0 {
		t.Errorf("changed %v, index %d, behind it %d", stale.Changed, before.Index, kept.Index)
	}
	big := note(strings.Repeat("x", statemachine.MaxEntryBytes+1))
	if err := c.DoAll(post("q1", "not"), big); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large note: %v", err)
	}
	want, err := b.Hash()
	must(t, err)
	wantEntries := a.entries()
	c.Close()
	mustClose(t, b)
	if err := c.DoAll(note("late")); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}

	a = newTally()
	b = openBroker(t, mem, withMachine(a))
	if got, err := b.Hash(); err != nil || got != want {
		t.Errorf("hash %x, want %x, %v", got, want, err)
	}
	sameStrings(t, a.entries(), wantEntries...)
	c = newClient(t, b)
	sameStrings(t, c.drain("q1"), "b", "out")
	c.Close()
	mustClose(t, b)
}

// A required post that would be rejected prevents all commands. An optional one fails alone.
func TestPostMust(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), withMachine(newTally()))
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.queue("full", func(s *QueueSpec) { s.Policy.MaxLength, s.Policy.Overflow = 2, RejectPublish })
	c.queue("other", nil)
	c.push("full", "a")
	n := note("x")
	if err := c.DoAll(post("other", "no"), post("full", "b"), n, post("full", "c")); !errors.Is(err, ErrRejected) || n.Index != 0 {
		t.Errorf("%v, index %d", err, n.Index)
	}
	second := post("full", "c")
	second.Must = false
	must(t, c.DoAll(post("other", "yes"), post("full", "b"), n, second))
	if !errors.Is(second.Err, ErrRejected) || n.Index != 1 {
		t.Errorf("%v, index %d", second.Err, n.Index)
	}
	nobody := post("nowhere", "x")
	nobody.Create = false
	if err := c.DoAll(post("other", "no"), nobody); !errors.Is(err, ErrQueueNotFound) {
		t.Errorf("no queue: %v", err)
	}
	sameStrings(t, c.drain("full"), "a", "b")
	sameStrings(t, c.drain("other"), "yes")
}

// A post is a publish like any other: properties, deduplication, times, and creation of a missing
// queue.
func TestPostIsAPublish(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.queue("once", func(s *QueueSpec) { s.Policy.Deduplicate, s.Policy.DedupHeader = true, "id" })
	once := func(id, body string) *Post {
		p := post("once", body)
		props := message.Properties{Flags: message.HasHeaders | message.HasMessageID, MessageID: body}
		props.Headers = message.Table{{Name: "id", Value: id}}
		p.Env = append(message.AppendEnvelopeHeader(nil, "", "once", props.Append(nil)), body...)
		return p
	}
	must(t, c.DoAll(once("1", "a"), once("1", "b"), once("2", "c")))
	sameStrings(t, c.drain("once"), "a", "c")

	must(t, c.DoAll(post("made", "x")))
	_, err := c.DeleteQueue("made", false, false)
	must(t, err)
	must(t, c.DoAll(post("made", "y")))
	sameStrings(t, c.drain("made"), "y")
	_, err = b.SetPermission(Permission{User: "guest", VHost: "/", Configure: ".*", Write: "^x", Read: ".*"})
	must(t, err)
	if err := c.DoAll(post("made", "z")); !errors.Is(err, ErrAccessRefused) {
		t.Errorf("without permission: %v", err)
	}
}

// TestNotesCrashAtEveryOperation: after a crash a moved message is in exactly one of two queues,
// and the machine has an entry for each completed move.
func TestNotesCrashAtEveryOperation(t *testing.T) {
	const count = 8
	queues := []string{"q0", "q1"}
	body := func(i int) string { return fmt.Sprintf("m%02d%s", i, strings.Repeat(".", 500)) } // so long that a torn page can split the group
	crashEverywhere(t, 4, func() life {
		var a *tally
		moved := 0
		return life{
			options: func(o *Options) {
				a = newTally() // each start has a new one
				withMachine(a, smallLog)(o)
			},
			live:  func(b *Broker) { moved = moveNoted(t, b, queues, count, body) },
			check: func(b *Broker) { checkMoved(t, b, queues, a.entries(), moved, count) },
		}
	})
}

// checkMoved checks that each message is in one of the queues, that each in the second one has an
// entry, and that answered moves were made.
func checkMoved(t *testing.T, b *Broker, queues, noted []string, moves, count int) {
	t.Helper()
	if len(noted) < moves || len(noted) > moves+1 {
		t.Errorf("%d notes after %d answers", len(noted), moves)
	}
	c := newClient(t, b)
	defer c.Close()
	if !c.HasQueue(queues[1]) {
		return
	}
	arrived := c.drain(queues[1])
	left := c.drain(queues[0])
	if !slices.Equal(arrived, noted) {
		t.Errorf("arrived %q, noted %q", arrived, noted)
	}
	for _, m := range left {
		if slices.Contains(arrived, m) {
			t.Errorf("%s is in both queues", m)
		}
	}
	if moves > 0 && len(left)+len(arrived) != count {
		t.Errorf("left %q, arrived %q", left, arrived)
	}
}

// moveNoted moves messages from the first queue to the second, on another shard, with an entry
// each, until the crash.
func moveNoted(t *testing.T, b *Broker, queues []string, count int, body func(int) string) (moved int) {
	c := newClient(t, b)
	for _, q := range queues {
		if declare(c, QueueSpec{Name: q, Durable: true}) != nil {
			return 0
		}
	}
	var posts []Command
	for i := range count {
		posts = append(posts, post(queues[0], body(i)))
	}
	if c.DoAll(posts...) != nil {
		return 0
	}
	for i := range count {
		d, _, ok, err := c.Get(queues[0], false)
		if err != nil || !ok {
			return moved
		}
		text := string(d.Env.Body())
		if c.DoAll(settle(d), post(queues[1], text), note(text)) != nil {
			return moved
		}
		moved++
		if i%4 == 3 {
			b.checkpointDue(false)
		}
	}
	return moved
}

// The required commands of a transaction are atomic even if their consequences fill the log's
// group.
func TestNoteBehindMuch(t *testing.T) {
	a := newTally()
	b := openBroker(t, vfs.NewMem(), withMachine(a))
	defer mustClose(t, b)
	b.groupBytes = 3000
	c := newClient(t, b)
	defer c.Close()
	c.queue("q", nil)
	n, last := note("entry"), post("q", "y")
	var commands []Command
	room := b.groupBytes - n.size() - last.size()
	for room > post("q", "").size() {
		p := post("q", strings.Repeat("x", min(room-post("q", "").size(), 50)))
		room -= p.size()
		commands = append(commands, p)
	}
	must(t, c.DoAll(append(commands, n, last)...))
	if n.Err != nil || n.Index == 0 || last.Err != nil || len(a.entries()) != 1 {
		t.Errorf("note %v, index %d; post %v; %d entries", n.Err, n.Index, last.Err, len(a.entries()))
	}
}
