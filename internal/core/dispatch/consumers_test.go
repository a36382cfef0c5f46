package dispatch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// gets publishes n messages one at a time, and returns the owners of the consumers that got them.
func (r *room) gets(n int) (got []any) {
	for range n {
		before := len(r.out)
		h := r.publish(envelope())
		rest(r.loop)
		if c := r.out[h]; c != nil {
			got = append(got, c.Owner)
		} else if len(r.out) == before {
			got = append(got, nil)
		}
	}
	return got
}

func sameOwners(t *testing.T, what string, got []any, want ...any) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestTurns checks that higher priority comes first, that equals take turns, and that a consumer
// that has room again is behind the others.
func TestTurns(t *testing.T) {
	r := (&loop{}).room()
	a := r.add(&Consumer{Owner: "a", Prefetch: 2})
	b := r.add(&Consumer{Owner: "b", Prefetch: 2})
	high := r.add(&Consumer{Owner: "high", Prefetch: 1, Priority: 5})
	sameOwners(t, "first", r.gets(4), "high", "a", "b", "a")
	for _, c := range []*Consumer{a, high} {
		r.end(r.unacked[c][0], false)
	}
	sameOwners(t, "room is back", r.gets(4), "high", "b", "a", nil)
	if r.consumers.Len() != 3 || r.consumers.All()[0] != high || a.Unacked() != 2 || b.Turn() == 0 {
		t.Errorf("%d consumers, first %v, %d out", r.consumers.Len(), r.consumers.All()[0].Owner, a.Unacked())
	}
	r.remove(b)
	r.end(r.unacked[b][0], true) // its message returns and is delivered again when there is room
	if rest(r.loop); !b.Gone() || r.consumers.Remove(b) {
		t.Error("a consumer was removed twice")
	}
	r.end(r.unacked[a][0], false)
	if rest(r.loop); a.Unacked() != 2 {
		t.Errorf("%d out after one came back", a.Unacked())
	}
}

// TestSingle checks that a single consumer gets messages, that its successor is the next by
// priority and age, and that by rank it hands over when it has no unsettled deliveries.
func TestSingle(t *testing.T) {
	for _, byRank := range []bool{false, true} {
		r := (&loop{}).room()
		r.consumers.Single(byRank)
		if c, ok := r.consumers.Active(); c != nil || !ok {
			t.Errorf("active without consumers: %v, %v", c, ok)
		}
		first := r.add(&Consumer{Owner: "first"})
		high := r.add(&Consumer{Owner: "high", Priority: 1})
		if got := r.gets(1); byRank {
			sameOwners(t, "by rank", got, "high")
		} else {
			sameOwners(t, "by age", got, "first")
		}
		active, _ := r.consumers.Active()
		r.remove(active)
		want := map[*Consumer]any{first: "high", high: "first"}[active]
		sameOwners(t, "after it has gone", r.gets(2), want, want)
	}
	r := (&loop{}).room()
	r.consumers.Single(true)
	low := r.add(&Consumer{Owner: "low"})
	sameOwners(t, "alone", r.gets(1), "low")
	r.add(&Consumer{Owner: "high", Priority: 1})
	sameOwners(t, "while it has one out", r.gets(1), nil)
	r.end(r.unacked[low][0], false)
	if rest(r.loop); len(r.unacked[low]) != 0 || len(r.out) != 1 {
		t.Errorf("%d out, %d of them with the old one", len(r.out), len(r.unacked[low]))
	}
}

// TestWindowStopsConsumer checks that a consumer whose window is full gets nothing until HasRoom is
// called.
func TestWindowStopsConsumer(t *testing.T) {
	r := (&loop{}).room()
	c := &Consumer{Owner: "c", Window: &Window{}}
	var woken int
	c.Window.Init(func() { woken++ })
	r.add(c)
	c.Window.Add(WindowBytes)
	sameOwners(t, "full", r.gets(1), nil)
	if c.Window.Done(WindowBytes); woken != 1 {
		t.Errorf("woken %d times", woken)
	}
	c.HasRoom()
	sameOwners(t, "room", r.gets(1), "c")
	if len(r.out) != 2 {
		t.Errorf("%d are out", len(r.out))
	}
}

// TestLimitsAgainstRules adds and removes consumers of several queues and loops under two growing
// limits: there are never more unsettled deliveries than allowed, and nothing is ready while a
// consumer and its limit have room.
func TestLimitsAgainstRules(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		loops := []*loop{{}, {}}
		var rooms []*room
		for i := range 4 {
			rooms = append(rooms, loops[i%2].room())
		}
		limits := []*Limit{NewLimit(1 + rng.IntN(3)), NewLimit(2)}
		where := map[*Consumer]*room{}
		var all []*Consumer
		for step := range 1500 {
			r := rooms[rng.IntN(len(rooms))]
			switch op := rng.IntN(12); {
			case op == 0 && len(all) < 14:
				c := &Consumer{Owner: step, Prefetch: rng.IntN(3), Priority: rng.IntN(2), Limit: limits[rng.IntN(2)]}
				where[c], all = r, append(all, c)
				r.add(c)
			case op == 1 && len(all) > 0 && rng.IntN(3) == 0:
				i := rng.IntN(len(all))
				where[all[i]].remove(all[i])
				all = slices.Delete(all, i, i+1)
			case op == 2:
				if l := limits[rng.IntN(2)]; l.Max() < 6 {
					l.SetMax(l.Max() + 1)
				}
			case op < 7:
				r.publish(envelope())
			default:
				for h := range r.out {
					r.end(h, rng.IntN(4) == 0)
					break
				}
			}
			rest(loops...)
			checkLimits(t, fmt.Sprintf("seed %d, step %d", seed, step), rooms, limits, all, where)
		}
	}
}

func checkLimits(t *testing.T, at string, rooms []*room, limits []*Limit, all []*Consumer, where map[*Consumer]*room) {
	t.Helper()
	out := map[*Limit]int{}
	for _, r := range rooms {
		for _, c := range r.out {
			out[c.Limit]++
		}
	}
	for i, l := range limits {
		if out[l] > l.Max() {
			t.Fatalf("%s: %d are out of %d under limit %d", at, out[l], l.Max(), i)
		}
	}
	for _, c := range all {
		r := where[c]
		if r.st.Ready() > 0 && out[c.Limit] < c.Limit.Max() && (c.Prefetch == 0 || c.Unacked() < c.Prefetch) {
			t.Fatalf("%s: consumer %v has room, and %d are ready", at, c.Owner, r.st.Ready())
		}
	}
}

// TestLimitIsFair checks that the queues under one limit take turns, and so do the consumers of
// each.
func TestLimitIsFair(t *testing.T) {
	loops := []*loop{{}, {}}
	limit := NewLimit(1)
	hold := loops[0].room()
	hold.add(&Consumer{Owner: "hold", Limit: limit})
	hold.publish(envelope())
	rest(loops...)
	var rooms []*room
	for i := range 3 {
		r := loops[i%2].room()
		for k := range 2 {
			r.add(&Consumer{Owner: fmt.Sprint(i, k), Limit: limit})
		}
		for range 20 {
			r.publish(envelope())
		}
		rooms = append(rooms, r)
	}
	rest(loops...)
	for h := range hold.out {
		hold.end(h, false)
	}
	perRoom, perConsumer := map[*room]int{}, map[any]int{}
	for n := range 60 {
		rest(loops...)
		for _, r := range rooms {
			for h, c := range r.out {
				perRoom[r]++
				perConsumer[c.Owner]++
				r.end(h, false)
			}
		}
		for i, r := range rooms {
			if perRoom[r] < n/3 {
				t.Fatalf("of the first %d messages room %d had %d", n+1, i, perRoom[r])
			}
		}
	}
	for owner, n := range perConsumer {
		if n != 10 {
			t.Errorf("consumer %v had %d of 20 for two", owner, n)
		}
	}
}
