package queue

import (
	"reflect"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

// twin is a naive State over one sorted slice.
type twin struct {
	live []twinItem // in delivery order
	next map[uint8]uint64
	low  map[uint8]uint64 // of front lanes
}

type twinItem struct {
	Item
	status Status
}

func (q *twin) publish(it Item) Handle {
	p := it.Handle.Priority()
	next := max(q.next[p], 1)
	seq := it.Handle.Seq()
	if seq == 0 {
		seq = next
	} else if seq < next {
		return 0
	}
	q.next[p] = seq + 1
	it.Handle = MakeHandle(p, seq)
	status := Ready
	if it.Due != 0 {
		status = Scheduled
	}
	at := len(q.live)
	for at > 0 && q.live[at-1].Handle.Priority() < p {
		at--
	}
	q.live = slices.Insert(q.live, at, twinItem{it, status})
	return it.Handle
}

// publishFront adds a message in front of all others of its priority; seq is its number or 0.
func (q *twin) publishFront(it Item, seq uint64) Handle {
	p := it.Handle.Priority()
	if q.low[p] == 0 {
		q.low[p], q.next[p] = frontEnd, frontEnd
	}
	if seq == 0 {
		seq = q.low[p] - 1
	}
	q.low[p] = seq
	it.Handle = MakeHandle(p, seq)
	status := Ready
	if it.Due != 0 {
		status = Scheduled
	}
	at := 0
	for at < len(q.live) && q.live[at].Handle.Priority() > p {
		at++
	}
	q.live = slices.Insert(q.live, at, twinItem{it, status})
	return it.Handle
}

// last is like first, but from the other end.
func (q *twin) last(now int64) *twinItem {
	q.due(now)
	for i := len(q.live) - 1; i >= 0; i-- {
		if it := &q.live[i]; it.status == Ready && (it.Expires == 0 || it.Expires > now) {
			return it
		}
	}
	return nil
}

// waiting returns the handles of the ready messages, including parked ones.
func (q *twin) waiting() (all []Handle) {
	for _, it := range q.live {
		if it.status == Ready || it.status == Parked {
			all = append(all, it.Handle)
		}
	}
	return all
}

func (q *twin) find(h Handle) *twinItem {
	for i := range q.live {
		if q.live[i].Handle == h {
			return &q.live[i]
		}
	}
	return nil
}

func (q *twin) first(now, until int64) *twinItem {
	q.due(now)
	for i := range q.live {
		if it := &q.live[i]; it.status == Ready && (it.Expires == 0 || it.Expires > until) {
			return it
		}
	}
	return nil
}

// over reports whether the message has expired and is not unacked.
func (it *twinItem) over(now int64) bool {
	return it.status != Unacked && it.Expires != 0 && it.Expires <= now
}

func (q *twin) expired(now int64) (n int) {
	for i := range q.live {
		if q.live[i].over(now) {
			n++
		}
	}
	return n
}

func (q *twin) requeue(h Handle, count uint32, due int64) bool {
	it := q.find(h)
	if it == nil || it.status != Unacked {
		return false
	}
	it.status, it.Count, it.Due = Ready, count, due
	it.Flags |= Redelivered
	if due != 0 {
		it.status = Scheduled
	}
	return true
}

func (q *twin) release(h Handle, now int64) bool {
	it := q.find(h)
	if it == nil || it.status != Unacked {
		return false
	}
	it.status = Ready
	if it.Due > now {
		it.status = Scheduled
	}
	return true
}

func (q *twin) due(now int64) {
	for i := range q.live {
		if it := &q.live[i]; it.status == Scheduled && it.Due <= now {
			it.status = Ready
		}
	}
}

// remove removes the messages that match selects, and returns them in delivery order.
func (q *twin) remove(match func(*twinItem) bool) []Item {
	var gone []Item
	q.live = slices.DeleteFunc(q.live, func(it twinItem) bool {
		if match(&it) {
			gone = append(gone, it.Item)
			return true
		}
		return false
	})
	return gone
}

// restart keeps only what a snapshot keeps.
func (q *twin) restart() {
	q.remove(func(it *twinItem) bool { return it.Flags&Persistent == 0 })
	for i := range q.live {
		switch it := &q.live[i]; {
		case it.status == Blocked && it.Due != 0:
			it.status = Scheduled
		case it.status != Scheduled:
			it.status = Ready
		}
	}
}

// nextEvent returns the exact time of the next expiry or due time.
func (q *twin) nextEvent() int64 {
	at := int64(never)
	for _, it := range q.live {
		if it.Expires != 0 && it.status != Unacked {
			at = min(at, it.Expires)
		}
		if it.status == Scheduled {
			at = min(at, it.Due)
		}
	}
	return at
}

// requireSame compares everything visible of both.
func (q *twin) requireSame(t *testing.T, s *State) {
	t.Helper()
	s.check()
	var count [statuses]int
	var bytes [statuses]int64
	i := 0
	s.Each(0, func(it *Item, status Status) bool {
		if i >= len(q.live) {
			t.Fatalf("message %x is too many", it.Handle)
		}
		want := q.live[i]
		requireItem(t, it, &want.Item)
		if status != want.status {
			t.Fatalf("message %x is %v, want %v", it.Handle, status, want.status)
		}
		i++
		return true
	})
	if i != len(q.live) {
		t.Fatalf("%d messages, want %d", i, len(q.live))
	}
	if len(q.live) > 0 {
		i := len(q.live) / 3
		from := q.live[i].Handle
		for _, to := range []Handle{from, from + 1, from + 700, q.live[len(q.live)-1].Handle, MakeHandle(255, seqMask)} {
			want := 0
			for _, it := range q.live {
				if it.Handle.Priority() == from.Priority() && it.Handle >= from && it.Handle < to {
					want++
				}
			}
			if n := s.Between(from, to); n != want {
				t.Fatalf("%d between %x and %x, want %d", n, from, to, want)
			}
		}
	}
	for _, it := range q.live {
		count[it.status]++
		bytes[it.status] += int64(it.Size)
	}
	if s.Ready() != count[Ready]+count[Parked] || s.Unacked() != count[Unacked] || s.Scheduled() != count[Scheduled] ||
		s.Parked() != count[Parked] || s.Blocked() != count[Blocked] {
		t.Fatalf("counts %v, want %v", s.count, count)
	}
	if s.ReadyBytes() != bytes[Ready]+bytes[Parked] || s.UnackedBytes() != bytes[Unacked] {
		t.Fatalf("bytes %v, want %v", s.bytes, bytes)
	}
	if at := q.nextEvent(); s.NextEvent() > at {
		t.Fatalf("next event %d, want at most %d", s.NextEvent(), at)
	}
	for p, next := range q.next {
		if s.NextSeq(p) != next {
			t.Fatalf("next of %d is %d, want %d", p, s.NextSeq(p), next)
		}
	}
}

// requireItem compares all fields. An Env may be missing but not wrong, and positions in the
// scratch log are not compared.
func requireItem(t *testing.T, got, want *Item) {
	t.Helper()
	if got.Env != nil && string(got.Env) != string(want.Env) {
		t.Fatalf("message %x has envelope %q, want %q", got.Handle, got.Env, want.Env)
	}
	if got.Env == nil && got.Flags&(Persistent|Scratch) == 0 {
		t.Fatalf("message %x lost its envelope", got.Handle)
	}
	g, w := *got, *want
	g.Env, w.Env = nil, nil
	if g.Flags&Scratch != 0 {
		if g.Index != spillIndex || g.Sub != uint32(g.Handle.Seq()) {
			t.Fatalf("message %x spilled to (%d, %d)", g.Handle, g.Index, g.Sub)
		}
		g.Index, g.Sub, w.Index, w.Sub = 0, 0, 0, 0
		w.Flags |= Scratch
	}
	if !reflect.DeepEqual(g, w) {
		t.Fatalf("message %x is %+v, want %+v", got.Handle, g, w)
	}
}

const spillIndex = 1 << 40

func spillAll(it *Item) (uint64, uint32, bool) { return spillIndex, uint32(it.Handle.Seq()), true }

func env(s string) message.Envelope { return message.Envelope(s) }
