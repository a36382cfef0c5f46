package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// run applies the same random operations to a State and to its twin.
type run struct {
	t     *testing.T
	rng   *rand.Rand
	s     *State
	q     *twin
	now   int64
	index uint64
	prios int
	gaps  bool
	front bool // one more priority is a front lane
}

// TestTwin compares State with a naive queue after random operations; the subtest's name is the
// seed.
func TestTwin(t *testing.T) {
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := &run{t: t, rng: rand.New(rand.NewPCG(seed, 1)), s: new(State), q: &twin{next: map[uint8]uint64{}, low: map[uint8]uint64{}}, now: 1000}
			r.prios = []int{1, 1, 4, 256}[seed%4]
			r.gaps = seed%3 == 0
			r.front = seed%2 == 0 && r.prios < 256
			for i := range 1500 {
				r.step()
				if i%25 == 0 {
					r.q.requireSame(t, r.s)
				}
			}
			r.q.requireSame(t, r.s)
		})
	}
}

func (r *run) step() {
	switch n := r.rng.IntN(100); {
	case n < 30:
		for range r.rng.IntN(40) {
			r.publish()
		}
		r.window()
	case n < 42:
		for range r.rng.IntN(60) {
			if r.rng.IntN(4) == 0 {
				r.last()
			} else {
				r.next()
			}
		}
	case n < 45:
		r.aside()
	case n < 60:
		r.settle()
	case n < 66:
		r.requeue()
	case n < 68:
		r.release()
	case n < 72:
		r.settleRange()
	case n < 75:
		r.lend()
	case n < 80:
		r.dropNext()
	case n < 86:
		r.now += r.rng.Int64N(50)
		r.expire()
	case n < 95:
		r.cool()
		r.lendDue()
		if r.rng.IntN(8) == 0 {
			r.reschedule()
		}
		if r.rng.IntN(2) == 0 {
			r.replace()
		}
	case n < 96:
		r.purge()
	case n < 98:
		r.restart()
	case n < 99:
		r.s.MarkAllRedelivered()
		for i := range r.q.live {
			r.q.live[i].Flags |= Redelivered
		}
	default:
		r.hash()
	}
}

func (r *run) publish() {
	it := Item{Size: uint32(r.rng.IntN(3) * 500)}
	seq := uint64(0)
	p := uint8(r.rng.IntN(r.prios))
	if r.gaps && r.rng.IntN(8) == 0 {
		seq = max(r.q.next[p], 1) + uint64(r.rng.IntN(3)*r.rng.IntN(1000))
		if r.rng.IntN(20) == 0 {
			seq = uint64(r.rng.IntN(50)) // often an existing one
		}
	}
	it.Handle = MakeHandle(p, seq)
	if r.rng.IntN(4) != 0 {
		it.Flags |= Persistent
		it.Index, it.Sub = r.index, uint32(r.rng.IntN(5))
		r.index += uint64(r.rng.IntN(2))
	}
	if r.rng.IntN(6) == 0 {
		it.Expires = r.now + 1 + r.rng.Int64N(300)
	}
	if r.rng.IntN(12) == 0 {
		it.Due = r.now + 1 + r.rng.Int64N(300)
	}
	it.Env = env(fmt.Sprintf("%d/%d", r.index, r.rng.IntN(1000)))
	if r.front && r.rng.IntN(3) == 0 {
		r.publishFront(it)
		return
	}
	if got, want := r.s.Publish(&it), r.q.publish(it); got != want {
		r.t.Fatalf("published as %x, want %x", got, want)
	}
}

// publishFront sometimes chooses the number itself, as a replay does.
func (r *run) publishFront(it Item) {
	it.Handle = MakeHandle(uint8(r.prios), 0)
	low := r.q.low[uint8(r.prios)]
	if low != 0 && r.rng.IntN(8) == 0 {
		seq := low - 1 - uint64(r.rng.IntN(3)*r.rng.IntN(1000))
		want := r.q.publishFront(it, seq)
		it.Handle = want
		if got := r.s.Publish(&it); got != want {
			r.t.Fatalf("published as %x, want %x", got, want)
		}
		if got := r.s.Publish(&it); got != 0 {
			r.t.Fatalf("published again as %x", got)
		}
		return
	}
	if got, want := r.s.publishFront(&it), r.q.publishFront(it, 0); got != want {
		r.t.Fatalf("published as %x, want %x", got, want)
	}
}

// window compares the messages at some positions.
func (r *run) window() {
	all := r.q.waiting()
	place, n := r.rng.IntN(len(all)+2), r.rng.IntN(300)
	want := all[min(place, len(all)):min(place+n, len(all))]
	var got []Handle
	r.s.Window(place, n, func(it *Item) { got = append(got, it.Handle) })
	if !slices.Equal(got, want) {
		r.t.Fatalf("%d places from %d: %x, want %x", n, place, got, want)
	}
}

func (r *run) last() {
	want := r.q.last(r.now)
	got := r.s.LendLast(r.now)
	if (got == nil) != (want == nil) {
		r.t.Fatalf("last %v, want %v", got, want)
	}
	if got != nil {
		requireItem(r.t, got, &want.Item)
		want.status = Unacked
	}
}

func (r *run) next() {
	until := r.now + int64((r.rng.IntN(3)-1)*r.rng.IntN(100))
	want := r.q.first(r.now, until)
	if peek := r.s.PeekBeyond(r.now, until); (peek == nil) != (want == nil) || peek != nil && peek.Handle != want.Handle {
		r.t.Fatalf("peek %v, want %v", peek, want)
	}
	got := r.s.NextBeyond(r.now, until)
	if (got == nil) != (want == nil) {
		r.t.Fatalf("next %v, want %v", got, want)
	}
	if got != nil {
		requireItem(r.t, got, &want.Item)
		want.status = Unacked
	}
}

// pick returns the handle of a live message, or one that is not live.
func (r *run) pick() Handle {
	if len(r.q.live) == 0 || r.rng.IntN(20) == 0 {
		return MakeHandle(uint8(r.rng.IntN(r.prios)), uint64(r.rng.IntN(3000)))
	}
	return r.q.live[r.rng.IntN(len(r.q.live))].Handle
}

func (r *run) settle() {
	for range r.rng.IntN(20) {
		h := r.pick()
		got, ok := r.s.Settle(h)
		want := r.q.remove(func(it *twinItem) bool { return it.Handle == h })
		if ok != (len(want) == 1) {
			r.t.Fatalf("settle %x: %v", h, ok)
		}
		if ok {
			requireItem(r.t, &got, &want[0])
		}
	}
}

func (r *run) settleRange() {
	h, n := r.pick(), r.rng.IntN(700)
	var got []Item
	settled := r.s.SettleRange(h, n, func(it *Item) { got = append(got, *it) })
	want := r.q.remove(func(it *twinItem) bool { return it.Handle >= h && it.Handle < h+Handle(n) })
	r.requireItems(got, want)
	if settled != len(want) {
		r.t.Fatalf("settled %d, want %d", settled, len(want))
	}
}

func (r *run) requireItems(got, want []Item) {
	r.t.Helper()
	if len(got) != len(want) {
		r.t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i := range got {
		requireItem(r.t, &got[i], &want[i])
	}
}

func (r *run) requeue() {
	for range r.rng.IntN(40) {
		h, count, due := r.pick(), uint32(r.rng.IntN(2)), int64(0)
		if r.rng.IntN(5) == 0 {
			due = r.now + 1 + r.rng.Int64N(100)
		}
		if got, want := r.s.Requeue(h, count, due), r.q.requeue(h, count, due); got != want {
			r.t.Fatalf("requeue %x: %v, want %v", h, got, want)
		}
	}
}

func (r *run) release() {
	for range r.rng.IntN(40) {
		h := r.pick()
		if got, want := r.s.Release(h, r.now), r.q.release(h, r.now); got != want {
			r.t.Fatalf("release %x: %v, want %v", h, got, want)
		}
	}
}

func (r *run) lend() {
	h := r.pick()
	want := r.q.find(h)
	it, status := r.s.Get(h)
	if want == nil && status != Gone || want != nil && status != want.status {
		r.t.Fatalf("get %x: %v, %v", h, it, status)
	}
	got := r.s.Lend(h)
	if lendable := want != nil && (want.status == Ready || want.status == Parked); lendable != (got != nil) {
		r.t.Fatalf("lend %x: %v", h, got)
	}
	if got != nil {
		requireItem(r.t, got, &want.Item)
		want.status = Unacked
	}
}

// dropNext drops the next message, like a length limit.
func (r *run) dropNext() {
	want := r.q.first(r.now, r.now)
	it := r.s.Next(r.now)
	if (it == nil) != (want == nil) {
		r.t.Fatalf("next %v, want %v", it, want)
	}
	if it == nil {
		return
	}
	h := want.Handle
	got, ok := r.s.Settle(it.Handle)
	if !ok {
		r.t.Fatalf("settle %x: gone", it.Handle)
	}
	requireItem(r.t, &got, &r.q.remove(func(it *twinItem) bool { return it.Handle == h })[0])
}

// expire lends expired messages, usually some of them, and usually settles them.
func (r *run) expire() {
	n, due := 1+r.rng.IntN(30), r.q.expired(r.now)
	if r.rng.IntN(3) == 0 {
		n = 1000
	}
	lent := r.s.LendExpired(r.now, n, nil)
	if len(lent) != min(n, due) {
		r.t.Fatalf("%d messages lent, want %d of %d", len(lent), n, due)
	}
	for _, h := range lent {
		want := r.q.find(h)
		if want == nil || !want.over(r.now) { // it was lent before and is unacked
			r.t.Fatalf("lent %x: %+v", h, want)
		}
		want.status = Unacked
		it, status := r.s.Get(h)
		if status != Unacked {
			r.t.Fatalf("lent %x is %v", h, status)
		}
		requireItem(r.t, it, &want.Item)
	}
	if at := r.s.NextEvent(); due > n && at > r.now {
		r.t.Fatalf("next event %d with %d more over at %d", at, due-n, r.now)
	}
	if due < n { // so it has examined everything
		r.s.Due(r.now)
		r.q.due(r.now)
		if at := r.s.NextEvent(); at != r.q.nextEvent() && at <= r.now {
			r.t.Fatalf("next event %d after all was done at %d", at, r.now)
		}
	}
	if r.rng.IntN(4) == 0 {
		return // they stay unacked until a requeue
	}
	for _, h := range lent {
		got, ok := r.s.Settle(h)
		if !ok {
			r.t.Fatalf("settle %x: gone", h)
		}
		requireItem(r.t, &got, &r.q.remove(func(it *twinItem) bool { return it.Handle == h })[0])
	}
}

func (r *run) cool() {
	keep := r.rng.Int64N(r.s.HotBytes() + 1)
	spill := spillAll
	if r.rng.IntN(2) == 0 {
		spill = nil
	}
	r.s.Cool(r.index-r.index/4, keep, spill)
}

func (r *run) purge() {
	var got []Item
	var runs []Handle
	r.s.Purge(func(h Handle, n int) {
		for i := range n {
			runs = append(runs, h+Handle(i))
		}
	}, func(it *Item) { got = append(got, *it) })
	want := r.q.remove(func(it *twinItem) bool { return it.status == Ready || it.status == Parked })
	r.requireItems(got, want)
	if len(runs) != len(want) {
		r.t.Fatalf("runs of %d, want %d", len(runs), len(want))
	}
	for i := range want {
		if runs[i] != want[i].Handle {
			r.t.Fatalf("run has %x, want %x", runs[i], want[i].Handle)
		}
	}
}

func (r *run) restart() {
	frozen := r.s.Freeze()
	before := r.s.AppendTo(nil)
	after := new(State)
	if err := after.Restore(before); err != nil {
		r.t.Fatal(err)
	}
	if after.Hash() != r.s.Hash() {
		r.t.Fatal("hash differs after restore")
	}
	r.q.restart()
	r.s.Purge(nil, nil) // must not change the frozen messages
	if string(frozen.AppendTo(nil)) != string(before) {
		r.t.Fatal("frozen state changed")
	}
	r.s = after
	r.q.requireSame(r.t, r.s)
}

func (r *run) hash() {
	h := r.s.Hash()
	r.s.Cool(r.index, 0, nil)
	if r.s.Hash() != h {
		r.t.Fatal("hash depends on packing")
	}
	refs := map[uint64]int{}
	r.s.RefsByIndex(func(index uint64, n int) { refs[index] += n })
	lo, hi := r.index/4, r.index/2
	live := map[[2]uint64]int{}
	r.s.Live(lo, hi, func(index uint64, sub uint32) { live[[2]uint64{index, uint64(sub)}]++ })
	for _, it := range r.q.live {
		if it.Flags&Persistent == 0 {
			continue
		}
		refs[it.Index]--
		if lo <= it.Index && it.Index <= hi {
			live[[2]uint64{it.Index, uint64(it.Sub)}]--
		}
	}
	for index, n := range refs {
		if n != 0 {
			r.t.Fatalf("entry %d: refs off by %d", index, n)
		}
	}
	for at, n := range live {
		if n != 0 {
			r.t.Fatalf("place %v: live off by %d", at, n)
		}
	}
}
