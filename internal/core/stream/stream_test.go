package stream

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/queue"
)

// naive holds the entries in a slice.
type naive struct {
	ids     []ID
	handles []queue.Handle
}

func (n *naive) cut(from, to int) (last ID) {
	last = n.ids[to-1]
	n.ids = slices.Delete(n.ids, from, to)
	n.handles = slices.Delete(n.handles, from, to)
	return last
}

func (n *naive) compare(t *testing.T, s *Stream, rng *rand.Rand) {
	t.Helper()
	if s.Len() != len(n.ids) {
		t.Fatalf("%d entries, want %d", s.Len(), len(n.ids))
	}
	from := ID{rng.Uint64N(s.lastID.Ms + 2), rng.Uint64N(3)}
	var up, down []ID
	s.Ascend(from, func(id ID, h queue.Handle) bool {
		up = append(up, id)
		if found, ok := s.Find(id); !ok || found != h {
			t.Fatalf("%v has handle %d, found %d %v", id, h, found, ok)
		}
		return true
	})
	s.Descend(from, func(id ID, _ queue.Handle) bool { down = append(down, id); return true })
	slices.Reverse(down)
	k, exact := slices.BinarySearchFunc(n.ids, from, ID.Compare)
	if !slices.Equal(up, n.ids[k:]) {
		t.Fatalf("from %v: %v, want %v", from, up, n.ids[k:])
	}
	if exact {
		k++
	}
	if !slices.Equal(down, n.ids[:k]) {
		t.Fatalf("down from %v: %v, want %v", from, down, n.ids[:k])
	}
	for _, b := range s.index.blocks {
		if len(b.spots) == 0 || len(b.spots)+b.gone > blockEntries {
			t.Fatalf("a block of %d entries, %d gone", len(b.spots), b.gone)
		}
	}
}

// TestEntriesTwin compares the entries with a slice: they are added, with jumps larger than a block
// allows, deleted, trimmed, and restored from a snapshot. What was frozen does not change.
func TestEntriesTwin(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var s Stream
		var n naive
		var h queue.Handle
		var deleted ID
		frozen, content := s.Freeze(), s.AppendTo(nil)
		for range 600 {
			switch rng.IntN(10) {
			default:
				for range rng.IntN(30) {
					id, _ := s.NextID(int64(s.lastID.Ms) + rng.Int64N(3) - 1)
					if rng.IntN(200) == 0 {
						id = ID{id.Ms + math.MaxUint32 + rng.Uint64N(5), 0}
					}
					if h += queue.Handle(1 + rng.Uint64N(3)); rng.IntN(300) == 0 {
						h += math.MaxUint32
					}
					s.Add(id, h)
					n.ids, n.handles = append(n.ids, id), append(n.handles, h)
				}
			case 0, 1, 2, 3:
				if len(n.ids) == 0 {
					continue
				}
				from := rng.IntN(len(n.ids))
				to := min(from+1+rng.IntN(3)*rng.IntN(100), len(n.ids))
				lo, hi := n.handles[from], n.handles[to-1]
				if got := s.Delete(lo, int(hi-lo)+1); got != to-from {
					t.Fatalf("seed %d: %d deleted, want %d", seed, got, to-from)
				}
				if last := n.cut(from, to); deleted.Before(last) {
					deleted = last
				}
			case 4:
				if len(n.ids) == 0 {
					continue
				}
				k := rng.IntN(len(n.ids))
				trim := Trim{MaxLen: len(n.ids) - k}
				if rng.IntN(2) == 0 {
					trim = Trim{ByID: true, MinID: n.ids[k]}
				}
				before, gone := s.Cut(&trim)
				if got := s.Trim(before); got != k || gone != k {
					t.Fatalf("seed %d: %d trimmed, %d announced, want %d", seed, got, gone, k)
				}
				n.ids, n.handles = n.ids[k:], n.handles[k:]
			case 5:
				hash := s.Hash()
				var again Stream
				if err := again.Restore(s.AppendTo(nil)); err != nil {
					t.Fatal(err)
				}
				if again.Hash() != hash {
					t.Fatalf("seed %d: another hash after a snapshot", seed)
				}
				s = again
			case 6:
				if !bytes.Equal(frozen.AppendTo(nil), content) {
					t.Fatalf("seed %d: a frozen stream has changed", seed)
				}
				frozen, content = s.Freeze(), s.AppendTo(nil)
			}
			n.compare(t, &s, rng)
			if s.MaxDeleted() != deleted {
				t.Fatalf("seed %d: max deleted %v, want %v", seed, s.MaxDeleted(), deleted)
			}
		}
	}
}

// TestTrimWhole checks what a trim of whole blocks removes.
func TestTrimWhole(t *testing.T) {
	for _, c := range []struct {
		trim Trim
		want int
	}{
		{Trim{MaxLen: 250, Whole: true}, 0},
		{Trim{MaxLen: 200, Whole: true}, 50}, // half of the first block is already deleted
		{Trim{MaxLen: 149, Whole: true}, 50},
		{Trim{MaxLen: 0, Whole: true}, 250},
		{Trim{MaxLen: 0, Whole: true, Limit: 149}, 50},
		{Trim{MaxLen: 0, Whole: true, Limit: 150}, 150},
		{Trim{MaxLen: 0, Whole: true, Limit: 49}, 0},
		{Trim{ByID: true, MinID: ID{101, 0}, Whole: true}, 50},
		{Trim{ByID: true, MinID: ID{100, 0}, Whole: true}, 0},
		{Trim{ByID: true, MinID: MaxID, Whole: true}, 250},
		{Trim{ByID: true, MinID: ID{60, 0}}, 9},
		{Trim{MaxLen: 10}, 240},
	} {
		var s Stream
		for i := range uint64(300) {
			s.Add(ID{i + 1, 0}, queue.Handle(i+1))
		}
		s.Delete(1, 50)
		before, n := s.Cut(&c.trim)
		if got := s.Trim(before); got != c.want || n != c.want {
			t.Errorf("%+v: %d trimmed, %d announced, want %d", c.trim, got, n, c.want)
		}
	}
}

func TestIDs(t *testing.T) {
	const top = math.MaxUint64
	for _, c := range []struct {
		id, next, prev ID
		hasNext, has   bool
	}{
		{ID{0, 0}, ID{0, 1}, ID{}, true, false},
		{ID{1, 0}, ID{1, 1}, ID{0, top}, true, true},
		{ID{1, top}, ID{2, 0}, ID{1, top - 1}, true, true},
		{MaxID, ID{}, ID{top, top - 1}, false, true},
	} {
		next, ok := c.id.Next()
		if next != c.next || ok != c.hasNext {
			t.Errorf("%v.Next() = %v, %v", c.id, next, ok)
		}
		prev, ok := c.id.Prev()
		if prev != c.prev || ok != c.has {
			t.Errorf("%v.Prev() = %v, %v", c.id, prev, ok)
		}
	}
	var s Stream
	s.Set(ID{5, 7}, ID{}, 0)
	for _, c := range []struct {
		ms   uint64
		want ID
		ok   bool
	}{{4, ID{4, 0}, false}, {5, ID{5, 8}, true}, {6, ID{6, 0}, true}} {
		if id, ok := s.NextIn(c.ms); id != c.want && ok || ok != c.ok {
			t.Errorf("NextIn(%d) = %v, %v", c.ms, id, ok)
		}
	}
	s.Set(ID{5, top}, ID{}, 0)
	if _, ok := s.NextIn(5); ok {
		t.Error("a time that is full has room")
	}
	if id, ok := s.NextID(3); !ok || id != (ID{6, 0}) {
		t.Errorf("NextID = %v, %v", id, ok)
	}
}

// pendingTwin holds the pending entries in a map.
type pendingTwin map[ID]struct {
	who   string
	at    int64
	count uint64
}

// TestPendingTwin compares the pending entries with a map: they are delivered in any order,
// claimed, acknowledged, and dropped with their consumer.
func TestPendingTwin(t *testing.T) {
	names := []string{"a", "b", "c"}
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var s Stream
		g := s.SetGroup("g", ID{}, 0)
		twin := pendingTwin{}
		for step := range 4000 {
			id := ID{rng.Uint64N(1500), rng.Uint64N(2)}
			switch rng.IntN(20) {
			default:
				who, count := names[rng.IntN(3)], rng.Uint64N(9)
				g.Give(g.Enter(who, int64(step)), id, int64(step), count)
				twin[id] = pendingTwin{id: {who, int64(step), count}}[id]
			case 0, 1, 2, 3, 4, 5, 6:
				_, want := twin[id]
				if got := g.Ack(id); got != want {
					t.Fatalf("seed %d: ack of %v is %v", seed, id, got)
				}
				delete(twin, id)
			case 7:
				if rng.IntN(20) > 0 {
					continue
				}
				who, n := names[rng.IntN(3)], 0
				for id, p := range twin {
					if p.who == who {
						delete(twin, id)
						n++
					}
				}
				if got := g.Leave(who); got != n {
					t.Fatalf("seed %d: %s left %d, want %d", seed, who, got, n)
				}
			}
			if step%500 == 499 {
				twin.compare(t, g, names)
				hash := s.Hash()
				if err := s.Restore(s.AppendTo(nil)); err != nil || s.Hash() != hash {
					t.Fatalf("seed %d: after a snapshot %v, hash %x, want %x", seed, err, s.Hash(), hash)
				}
				g = s.Group("g")
				twin.compare(t, g, names)
			}
		}
	}
}

func (twin pendingTwin) compare(t *testing.T, g *Group, names []string) {
	t.Helper()
	if g.Len() != len(twin) {
		t.Fatalf("%d pending, want %d", g.Len(), len(twin))
	}
	var before ID
	first := true
	g.Ascend(ID{}, func(p *Pending) bool {
		if want := twin[p.ID]; want.who != p.Consumer.Name || want.at != p.Time || want.count != p.Count {
			t.Fatalf("%v is %+v, want %+v", p.ID, p, want)
		}
		if !first && !before.Before(p.ID) {
			t.Fatalf("%v behind %v", p.ID, before)
		}
		before, first = p.ID, false
		return true
	})
	total := 0
	for _, name := range names {
		if c := g.Consumer(name); c != nil {
			c.Ascend(ID{}, func(id ID) bool {
				if twin[id].who != name {
					t.Fatalf("%s has %v, want %s", name, id, twin[id].who)
				}
				total++
				return true
			})
		}
	}
	if total != len(twin) {
		t.Fatalf("consumers have %d, want %d", total, len(twin))
	}
}

// FuzzRestore checks that Restore either refuses its input or gives a stream with a stable
// snapshot.
func FuzzRestore(f *testing.F) {
	var s Stream
	for i := range uint64(5) {
		s.Add(ID{i + 1, i}, queue.Handle(2*i+1))
	}
	g := s.SetGroup("g", ID{3, 0}, Unknown)
	g.Give(g.Enter("c", 9), ID{2, 1}, 5, 2)
	f.Add(s.AppendTo(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Stream
		if s.Restore(b) != nil {
			if s.Len() != 0 || s.Groups() != nil {
				t.Fatal("something is left of what was refused")
			}
			return
		}
		once := s.AppendTo(nil)
		var again Stream
		if err := again.Restore(once); err != nil || again.Hash() != s.Hash() || !bytes.Equal(again.AppendTo(nil), once) {
			t.Fatalf("said again it is another: %v", err)
		}
	})
}
