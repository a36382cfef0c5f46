package dispatch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// twinMessage is a message of the naive model, which examines all messages for each delivery.
type twinMessage struct {
	h          queue.Handle
	key, color string
	out        bool
	holder     *Consumer // if out; nil for a Get
}

type selectiveTwin struct {
	r         *room
	msgs      []*twinMessage // in queue order
	consumers []*Consumer
	wants     map[*Consumer]string
}

// may reports whether a message may go to a consumer now. nil stands for a Get, which has no
// selector.
func (tw *selectiveTwin) may(m *twinMessage, c *Consumer) bool {
	if m.out || c != nil && tw.wants[c] != "" && !strings.Contains(tw.wants[c], m.color) {
		return false
	}
	for _, o := range tw.msgs {
		if m.key != "" && o.key == m.key && o.out && (c == nil || o.holder != c || c.Gone()) {
			return false
		}
	}
	return true
}

func (tw *selectiveTwin) find(h queue.Handle) *twinMessage {
	return tw.msgs[slices.IndexFunc(tw.msgs, func(m *twinMessage) bool { return m.h == h })]
}

// follow applies the deliveries to the model: each consumer must get its first message, in the
// order of deliveries.
func (tw *selectiveTwin) follow(t *testing.T, at string, before map[queue.Handle]*Consumer) {
	t.Helper()
	rest(tw.r.loop)
	for h, c := range tw.r.out {
		if _, was := before[h]; was {
			continue
		}
		m := tw.find(h)
		if tw.wants[c] != "" && !strings.Contains(tw.wants[c], m.color) {
			t.Fatalf("%s: %v got %s", at, c.Owner, m.color)
		}
		m.out, m.holder = true, c
	}
	holders := map[string]*Consumer{}
	for _, m := range tw.msgs {
		if !m.out || m.key == "" {
			continue
		}
		if c, ok := holders[m.key]; ok && c != m.holder {
			t.Fatalf("%s: group %s is with two", at, m.key)
		}
		holders[m.key] = m.holder
	}
	for _, c := range tw.consumers {
		if c.Prefetch > 0 && c.Unacked() >= c.Prefetch {
			continue
		}
		for _, m := range tw.msgs {
			if tw.may(m, c) {
				t.Fatalf("%s: %v has room, and message %d of %q may go to it", at, c.Owner, m.h, m.key)
			}
		}
	}
}

// TestSelectiveTwin checks after each of many random operations that consumers with room have
// everything that they may get, that a group is with one consumer, and that no consumer gets what
// its selector rejects. At the end nothing must be remembered.
func TestSelectiveTwin(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 11))
		header := []string{"g", "g", ""}[seed%3]
		tw := &selectiveTwin{r: (&loop{}).room().grouped(header), wants: map[*Consumer]string{}}
		colors := []string{"red", "blue", "green"}
		for step := range 500 {
			at := fmt.Sprintf("seed %d, step %d", seed, step)
			before := map[queue.Handle]*Consumer{}
			for h, c := range tw.r.out {
				before[h] = c
			}
			switch op := rng.IntN(20); {
			case op < 2 && len(tw.consumers) < 5:
				c := &Consumer{Owner: step, Prefetch: 1 + rng.IntN(3), Priority: rng.IntN(2)}
				if want := []string{"", "", "red", "red,blue"}[rng.IntN(4)]; want != "" {
					tw.wants[c] = want
					c.Selector = compile(t, "color IN ('"+strings.ReplaceAll(want, ",", "','")+"')")
				}
				tw.consumers = append(tw.consumers, c)
				tw.r.add(c)
			case op < 3 && len(tw.consumers) > 0:
				i := rng.IntN(len(tw.consumers))
				tw.r.remove(tw.consumers[i])
				tw.consumers = slices.Delete(tw.consumers, i, i+1)
			case op < 9 && len(tw.msgs) < 40:
				m := &twinMessage{color: colors[rng.IntN(3)]}
				fields := []message.Field{{Name: "color", Value: m.color}}
				if header != "" && rng.IntN(4) > 0 {
					m.key = fmt.Sprint(rng.IntN(4))
					fields = append(fields, message.Field{Name: header, Value: m.key})
				}
				m.h = tw.r.publish(envelope(fields...))
				tw.msgs = append(tw.msgs, m)
			case op < 11:
				tw.get(t, at)
			case len(tw.r.out) > 0:
				var out []queue.Handle
				for h := range tw.r.out {
					out = append(out, h)
				}
				slices.Sort(out)
				tw.end(out[rng.IntN(len(out))], rng.IntN(3) == 0)
			}
			for h := range before { // a returned message may have been delivered again
				if c, ok := tw.r.out[h]; !ok || c != before[h] {
					delete(before, h)
				}
			}
			tw.follow(t, at, before)
		}
		for _, c := range tw.consumers {
			tw.r.remove(c)
		}
		for h := range tw.r.out {
			tw.end(h, true)
		}
		for len(tw.msgs) > 0 {
			n := len(tw.msgs)
			if tw.get(t, "end"); len(tw.r.out) != 1 {
				t.Fatalf("seed %d: %d messages cannot be had", seed, n)
			}
			for h := range tw.r.out {
				tw.end(h, false)
			}
		}
		if p := tw.r.selective; len(p.groups)+len(p.out)+len(p.pools)+p.places != 0 {
			t.Errorf("seed %d: %d groups, %d out, %d pools, %d places are left", seed, len(p.groups), len(p.out), len(p.pools), p.places)
		}
	}
}

// get takes the first message whose group is not held.
func (tw *selectiveTwin) get(t *testing.T, at string) {
	t.Helper()
	it, again := tw.r.selective.Get(0, false)
	var want *twinMessage
	if i := slices.IndexFunc(tw.msgs, func(m *twinMessage) bool { return tw.may(m, nil) }); i >= 0 {
		want = tw.msgs[i]
	}
	switch {
	case again:
		t.Fatalf("%s: the search had to stop", at)
	case it == nil && want == nil:
	case it == nil || want == nil || it.Handle != want.h:
		t.Fatalf("%s: got %v, want %v", at, it, want)
	default:
		want.out, want.holder = true, nil
		tw.r.out[it.Handle] = nil
	}
}

func (tw *selectiveTwin) end(h queue.Handle, back bool) {
	tw.r.end(h, back)
	m := tw.find(h)
	if m.out, m.holder = false, nil; !back {
		tw.msgs = slices.DeleteFunc(tw.msgs, func(o *twinMessage) bool { return o == m })
	}
}

func grouped(key string) message.Envelope { return envelope(message.Field{Name: "g", Value: key}) }

// TestGroupOrder checks the order within a group: messages behind a set-aside one are set aside,
// too.
func TestGroupOrder(t *testing.T) {
	r := (&loop{}).room().grouped("g")
	a := r.add(&Consumer{Owner: "a", Prefetch: 1})
	b := r.add(&Consumer{Owner: "b", Prefetch: 1})
	var hs []queue.Handle
	for _, key := range []string{"x", "x", "y", "x", "y"} {
		hs = append(hs, r.publish(grouped(key)))
	}
	rest(r.loop)
	if r.out[hs[0]] != a || r.out[hs[2]] != b {
		t.Fatalf("out: %v", r.out)
	}
	r.end(hs[0], false)
	rest(r.loop)
	if r.out[hs[1]] != a {
		t.Errorf("a got %v, want %d", r.unacked[a], hs[1])
	}
	r.remove(a) // its message is unsettled: the group waits, even if a consumer has room
	r.end(hs[2], false)
	rest(r.loop)
	if r.out[hs[4]] != b || len(r.out) != 2 {
		t.Errorf("out: %v", r.out)
	}
	r.end(hs[4], false)
	if rest(r.loop); len(r.out) != 1 {
		t.Errorf("the group of a consumer that has gone went on: %v", r.out)
	}
	r.end(hs[1], true)
	if rest(r.loop); r.out[hs[1]] != b {
		t.Errorf("what came back is not first: %v", r.unacked[b])
	}
}

// TestOutOfTurn checks that Lend, Taken and Hold respect groups as deliveries do.
func TestOutOfTurn(t *testing.T) {
	r := (&loop{}).room().grouped("g")
	env := grouped("x")
	one, two, other := r.publish(env), r.publish(env), r.publish(grouped("y"))
	if it := r.selective.Lend(one, env); it == nil || it.Handle != one {
		t.Fatalf("lent %v", it)
	}
	if it := r.selective.Lend(two, env); it != nil {
		t.Errorf("the second of a group that is held was lent")
	}
	it := r.st.Lend(two)
	if r.selective.Taken(it, false) || r.st.Status(two) != queue.Parked {
		t.Errorf("the second was taken, it is %v", r.st.Status(two))
	}
	if it := r.st.Lend(other); !r.selective.Taken(it, true) || len(r.selective.out) != 1 {
		t.Errorf("one of another group was not taken, %d groups are held", len(r.selective.out))
	}
	r.selective.Release(one, 1)
	r.selective.Hold(one, env)
	if it, _ := r.selective.Get(0, false); it != nil {
		t.Errorf("got %v of a group that is held", it)
	}
	r.selective.Release(one, 1)
	if it, _ := r.selective.Get(0, false); it == nil || it.Handle != two {
		t.Errorf("got %v, want %d", it, two)
	}
}

// TestLookAheadIsBounded checks that at most MaxAside messages are set aside, Step of them in one
// round, and that places of removed messages do not accumulate.
func TestLookAheadIsBounded(t *testing.T) {
	r := (&loop{}).room().grouped("g")
	held := r.publish(grouped("x"))
	if it, _ := r.selective.Get(0, false); it.Handle != held {
		t.Fatal("the first was not had")
	}
	r.add(&Consumer{Owner: "idle", Prefetch: 1})
	for range MaxAside + 500 {
		r.publish(grouped("x"))
	}
	r.publish(grouped("y"))
	rounds := 0
	for parked := 0; r.look || r.again; rounds++ {
		r.again = false
		if r.dispatch(); r.st.Parked() > parked+Step {
			t.Fatalf("%d were set aside in one round", r.st.Parked()-parked)
		}
		parked = r.st.Parked()
	}
	if r.st.Parked() != MaxAside || rounds < MaxAside/Step {
		t.Errorf("%d are set aside, in %d rounds", r.st.Parked(), rounds)
	}
	first := held + 1
	n := r.st.SettleRange(first, MaxAside+500, nil) // they expire
	r.look = true
	rest(r.loop)
	if p := r.selective; p.places > 2*Step || n != MaxAside+500 || len(r.out) != 1 {
		t.Errorf("%d places of %d messages that are gone, %d out", p.places, n, len(r.out))
	}
}
