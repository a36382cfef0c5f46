package amqp

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/queue"
)

// TestUnackedTwin runs random settles against a sorted slice of tags.
func TestUnackedTwin(t *testing.T) {
	q := &shard.Queue{}
	rapid.Check(t, func(t *rapid.T) {
		var u unacked
		var twin []uint64
		var taken []delivery // what may be put back
		next := uint64(0)
		for range rapid.IntRange(1, 1500).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "op") {
			default:
				next += uint64(rapid.IntRange(1, 3).Draw(t, "gap"))
				u.push(delivery{tag: next, handle: queue.Handle(next), queue: q})
				twin = append(twin, next)
			case 0, 1, 2:
				tag := uint64(rapid.IntRange(0, int(next)+2).Draw(t, "tag"))
				d, ok := u.take(tag)
				at, want := slices.BinarySearch(twin, tag)
				if ok != want {
					t.Fatalf("take %d: %v, want %v", tag, ok, want)
				}
				if ok {
					if d.tag != tag || d.handle != queue.Handle(tag) || d.queue != q {
						t.Fatalf("take %d gave %+v", tag, d)
					}
					twin = slices.Delete(twin, at, at+1)
					taken = append(taken, d)
				}
			case 3:
				if rapid.IntRange(0, 4).Draw(t, "rare") > 0 {
					continue
				}
				tag := uint64(rapid.IntRange(0, int(next)+2).Draw(t, "upto"))
				at, want := slices.BinarySearch(twin, tag)
				if tag == 0 {
					at, want = len(twin)-1, true
				}
				ds, ok := u.takeTo(nil, tag)
				if ok != want {
					t.Fatalf("takeTo %d: %v, want %v", tag, ok, want)
				}
				if !ok {
					continue
				}
				var tags []uint64
				for _, d := range ds {
					tags = append(tags, d.tag)
				}
				if !slices.Equal(tags, twin[:at+1]) {
					t.Fatalf("takeTo %d gave %v, want %v", tag, tags, twin[:at+1])
				}
				twin = slices.Clone(twin[at+1:])
			case 4:
				u.putBack(taken)
				for _, d := range taken {
					twin = append(twin, d.tag)
				}
				slices.Sort(twin)
				taken = nil
			}
			if u.live != len(twin) {
				t.Fatalf("live %d, want %d", u.live, len(twin))
			}
		}
	})
}

// TestUnackedStaysSmall keeps one delivery forever while others are delivered and settled.
func TestUnackedStaysSmall(t *testing.T) {
	var u unacked
	q := &shard.Queue{}
	u.push(delivery{tag: 1, queue: q})
	for tag := uint64(2); tag < 100_000; tag++ {
		u.push(delivery{tag: tag, queue: q})
		if _, ok := u.take(tag); !ok {
			t.Fatalf("tag %d is not there", tag)
		}
	}
	if cap(u.list) > 8*idleUnacked {
		t.Errorf("one unsettled delivery holds room for %d", cap(u.list))
	}
}
