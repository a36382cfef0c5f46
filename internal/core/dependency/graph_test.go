package dependency

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/idindex"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// room is a queue in a graph.
type room struct {
	state     *queue.State
	m         *Member
	unblocked []queue.Handle
}

func (r *room) Unblocked(h queue.Handle) { r.unblocked = append(r.unblocked, h) }

func (g *Graph) room(unawaited bool) *room {
	r := &room{state: &queue.State{}}
	r.m = g.Join(r, &r.state.Deliveries, unawaited)
	return r
}

// envelope returns a message with an id that names others; "" and nil mean none.
func envelope(id string, after ...string) message.Envelope {
	var p message.Properties
	if id != "" {
		p.Flags |= message.HasMessageID
		p.MessageID = id
	}
	if len(after) > 0 {
		var ids message.Array
		for _, a := range after {
			ids = append(ids, a)
		}
		p.Flags |= message.HasHeaders
		p.Headers = message.Table{{Name: "consume_after", Value: ids}}
	}
	return message.Envelope(message.AppendEnvelopeHeader(nil, "", "q", p.Append(nil)))
}

// put publishes a message to rooms.
func (g *Graph) put(env message.Envelope, copied bool, rooms ...*room) (h queue.Handle) {
	var in Arrival
	g.Look(&in, env, copied)
	for _, r := range rooms {
		h = r.state.Publish(&queue.Item{Env: env})
		r.m.Arrive(h, &in)
	}
	return h
}

func (r *room) settle(h queue.Handle, n int) {
	live := r.state.SettleRange(h, n, nil)
	r.m.Went(h, n, live)
}

// left describes what a graph still holds without messages; "" means nothing.
func (g *Graph) left() string {
	for _, s := range g.slots {
		if s.m != nil && len(s.m.waited)+len(s.m.dependents) > 0 {
			return fmt.Sprintf("%+v", s.m)
		}
	}
	if len(g.named) > 0 || g.live != 0 || len(g.circle) > 0 || g.late > 0 {
		return fmt.Sprintf("%+v", g)
	}
	return ""
}

// twin is a graph and a list of all messages in order of arrival.
type twin struct {
	t     *testing.T
	g     *Graph
	rooms []*room
	live  []*twinMessage
	age   int
}

type twinMessage struct {
	r     *room
	h     queue.Handle
	id    string
	after []string
	age   int
	lent  bool
}

// leads reports whether messages with an id name another id, directly or through others.
func (tw *twin) leads(from, to string) bool {
	seen := []string{from}
	for i := 0; i < len(seen); i++ {
		for _, m := range tw.live {
			if m.id != seen[i] {
				continue
			}
			for _, id := range m.after {
				if id == to {
					return true
				}
				if !slices.Contains(seen, id) {
					seen = append(seen, id)
				}
			}
		}
	}
	return false
}

func (tw *twin) blocked(m *twinMessage) bool {
	return slices.ContainsFunc(m.after, func(id string) bool {
		back := m.id != "" && tw.leads(id, m.id)
		return slices.ContainsFunc(tw.live, func(o *twinMessage) bool {
			return o.id == id && !(id == m.id) && (!back || len(o.after) == 0 || o.age < m.age)
		})
	})
}

func (tw *twin) publish(rng *rand.Rand, ids int) {
	id := ""
	if rng.IntN(5) > 0 {
		id = fmt.Sprint(rng.IntN(ids))
	}
	var after []string
	for range rng.IntN(3) {
		if a := fmt.Sprint(rng.IntN(ids)); a != id && !slices.Contains(after, a) {
			after = append(after, a)
		}
	}
	copied := rng.IntN(10) == 0
	env := envelope(id, after...)
	if copied {
		after = nil
	}
	rooms := tw.rooms[:1+rng.IntN(len(tw.rooms))]
	tw.age++
	var in Arrival
	tw.g.Look(&in, env, copied)
	for _, r := range rooms {
		h := r.state.Publish(&queue.Item{Env: env})
		r.m.Arrive(h, &in)
		tw.live = append(tw.live, &twinMessage{r: r, h: h, id: id, after: after, age: tw.age})
	}
}

func (tw *twin) compare(step int) {
	for _, m := range tw.live {
		want := queue.Ready
		switch {
		case m.lent:
			want = queue.Unacked
		case tw.blocked(m):
			want = queue.Blocked
		}
		if got := m.r.state.Status(m.h); got != want {
			tw.t.Fatalf("step %d: message %q after %q is %v, want %v", step, m.id, m.after, got, want)
		}
	}
	tw.g.check()
}

// TestTwin compares the blocked messages with a naive model after each of many random operations.
// At the end all messages can be taken, and nothing is left. Few ids give many circles, more ids
// give chains. Recall must find the same again.
func TestTwin(t *testing.T) {
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 3))
		ids := []int{4, 15, 40, 100}[seed%4]
		tw := &twin{t: t, g: New()}
		for range 3 {
			tw.rooms = append(tw.rooms, tw.g.room(false))
		}
		for step := range 500 {
			i := 0
			if len(tw.live) > 0 {
				i = rng.IntN(len(tw.live))
			}
			switch op := rng.IntN(10); {
			case len(tw.live) == 0, op < 5 && len(tw.live) < 60:
				tw.publish(rng, ids)
			case op < 7:
				if m := tw.live[i]; m.r.state.Status(m.h) == queue.Ready {
					m.r.state.Lend(m.h)
					m.lent = true
				}
			case op < 8:
				if m := tw.live[i]; m.lent {
					m.r.state.Requeue(m.h, 1, 0)
					m.r.m.Block(m.h, 1)
					m.lent = false
				}
			default:
				m := tw.live[i]
				tw.live = slices.Delete(tw.live, i, i+1)
				m.r.settle(m.h, 1)
			}
			tw.compare(step)
			tw.g.Tidy()
		}
		tw.recalled()
		for len(tw.live) > 0 {
			i := slices.IndexFunc(tw.live, func(m *twinMessage) bool { return !tw.blocked(m) })
			if i < 0 {
				t.Fatalf("seed %d: %d messages wait for each other", seed, len(tw.live))
			}
			m := tw.live[i]
			tw.live = slices.Delete(tw.live, i, i+1)
			m.r.settle(m.h, 1)
			tw.compare(-1)
		}
		if left := tw.g.left(); left != "" {
			t.Errorf("seed %d: left behind: %s", seed, left)
		}
	}
}

// recalled compares with a graph that Recall builds for the same messages after a restart. The age
// of a message is its position in the log.
func (tw *twin) recalled() {
	g := New()
	again := map[*room]*room{}
	for _, r := range tw.rooms {
		again[r] = g.room(false)
	}
	envs := map[uint64]message.Envelope{}
	copies := map[uint64]bool{}
	placed := map[*twinMessage]queue.Handle{}
	for _, m := range tw.live {
		at := uint64(m.age)
		it, _ := m.r.state.Get(m.h)
		envs[at] = it.Env
		copies[at] = len(m.after) == 0
		placed[m] = again[m.r].state.Publish(&queue.Item{Env: it.Env, Index: at, Flags: queue.Persistent})
	}
	each := 0
	g.Recall(func(index uint64, _ uint32) (message.Envelope, bool, error) { return envs[index], copies[index], nil },
		func(Queue, queue.Handle) { each++ })
	if each != len(tw.live) {
		tw.t.Errorf("%d messages were told of, of %d", each, len(tw.live))
	}
	for _, m := range tw.live {
		if got, want := again[m.r].state.Status(placed[m]) == queue.Blocked, tw.blocked(m); got != want {
			tw.t.Errorf("recalled: message %q after %q is blocked: %v, want %v", m.id, m.after, got, want)
		}
	}
}

// TestForgetsThoseThatWent checks that a removed message that waited for a long-lived one is
// forgotten.
func TestForgetsThoseThatWent(t *testing.T) {
	g := New()
	r := g.room(false)
	first := g.put(envelope("first"), false, r)
	g.put(envelope("stays", "first"), false, r)
	for i := range 1000 {
		r.settle(g.put(envelope(fmt.Sprint(i), "first"), false, r), 1)
	}
	if n := len(r.m.waited[first].by) + len(r.m.dependents); n > 100 {
		t.Errorf("%d are remembered to wait", n)
	}
}

// TestSearchHasAnEnd checks that the search for circles is bounded: if it would take longer,
// earlier messages do not wait for the last one.
func TestSearchHasAnEnd(t *testing.T) {
	g := New()
	r := g.room(false)
	const wide = 300
	var fronts, backs, absent []string
	for i := range wide {
		fronts, backs, absent = append(fronts, fmt.Sprint("front", i)), append(backs, fmt.Sprint("back", i)), append(absent, fmt.Sprint("absent", i))
	}
	for i := range wide {
		g.put(envelope(fmt.Sprint("end", i), backs...), false, r)
		g.put(envelope(fmt.Sprint("back", i), "middle"), false, r)
		g.put(envelope(fmt.Sprint("front", i), absent...), false, r)
	}
	g.put(envelope("absent0", "end0"), false, r)
	g.put(envelope("middle", fronts...), false, r)
	if g.late != 1 {
		t.Error("the search had an end")
	}
}

// TestStaysSmall checks that entries of removed messages do not accumulate, and that the memory for
// many messages is released.
func TestStaysSmall(t *testing.T) {
	g := New()
	r := g.room(false)
	next := 0
	put := func() {
		h := r.state.Publish(&queue.Item{})
		r.m.Arrive(h, &Arrival{named: true, sum: idindex.SumOf(fmt.Append(nil, next))})
		next++
	}
	first := queue.MakeHandle(0, 1)
	settle := func(n int) {
		r.settle(first, n)
		first += queue.Handle(n)
	}
	const live = 20_000
	for range live {
		put()
	}
	for range 10 * live {
		put()
		settle(1)
		if g.ids.Len() > 2*live {
			t.Fatalf("%d entries for %d messages", g.ids.Len(), live)
		}
	}
	for range live - 100 {
		settle(1)
		g.Tidy()
	}
	if n := g.ids.Room(); n > 8*(g.live+idindex.Slack) || g.live != 100 {
		t.Errorf("room for %d entries, %d messages", n, g.live)
	}
	settle(100)
	for range live {
		put()
	}
	settle(live)
	g.Tidy()
	if g.ids.Len() > 0 || g.ids.Room() > 0 || g.slots[0].entries > 0 {
		t.Errorf("left behind: %d entries, room for %d", g.ids.Len(), g.ids.Room())
	}
	put()
	put()
	r.m.Leave()
	if !g.Empty() {
		t.Error("a graph without queues is not empty")
	}
}

// TestLeave checks that removing a queue with messages unblocks others, and that its slot is
// reused.
func TestLeave(t *testing.T) {
	g := New()
	a, b := g.room(false), g.room(true)
	g.put(envelope("x"), false, a)
	waits := g.put(envelope("y", "x"), false, b)
	both := g.put(envelope("z", "x", "y"), false, b) // no message waits for y, because its queue is unawaited
	if a.m.Leave(); b.state.Status(waits) != queue.Ready || b.state.Status(both) != queue.Ready {
		t.Errorf("%v and %v after the other queue has gone", b.state.Status(waits), b.state.Status(both))
	}
	if !slices.Equal(b.unblocked, []queue.Handle{waits, both}) {
		t.Errorf("told of %v", b.unblocked)
	}
	for range 3 {
		c := g.room(false)
		g.put(envelope("x"), false, c)
		g.put(envelope("w", "x"), false, b)
		c.m.Leave()
	}
	g.Tidy()
	if len(g.slots) > 8 {
		t.Errorf("%d slots", len(g.slots))
	}
}

// TestFinds checks that FreedBy finds the messages that wait only for the given ones, in queue
// order, and that LivesBeside and First find messages by id.
func TestFinds(t *testing.T) {
	g := New()
	a, b := g.room(false), g.room(false)
	x := At{a.m, g.put(envelope("x"), false, a)}
	y := At{b.m, g.put(envelope("y"), false, b)}
	after := map[string]queue.Handle{}
	for _, id := range []string{"x", "xy", "y"} {
		var names []string
		for _, c := range id {
			names = append(names, string(c))
		}
		after[id] = g.put(envelope("after "+id, names...), false, a)
	}
	for name, c := range map[string]struct {
		some []At
		want []string
	}{"x": {[]At{x}, []string{"x"}}, "y": {[]At{y}, []string{"y"}}, "both": {[]At{y, x}, []string{"x", "xy", "y"}}, "none": {nil, nil}} {
		var want []queue.Handle
		for _, id := range c.want {
			want = append(want, after[id])
		}
		if got := a.m.FreedBy(c.some, 0); !slices.Equal(got, want) {
			t.Errorf("%s frees %v, want %v", name, got, slices.Collect(maps.Keys(after)))
		}
	}
	sum := idindex.SumOf([]byte("x"))
	if !g.LivesBeside(sum, nil) || g.LivesBeside(sum, []At{x}) || !g.LivesBeside(sum, []At{y}) {
		t.Error("x lives beside the wrong ones")
	}
	if h, ok := a.m.First("x"); !ok || h != x.Handle {
		t.Errorf("x is at %v, %v", h, ok)
	}
	if _, ok := b.m.First("x"); ok {
		t.Error("x is in the other queue")
	}
}
