package queue

import "fmt"

// replace replaces some messages and changes the count of returns of others.
func (r *run) replace() {
	for range r.rng.IntN(20) {
		h := r.pick()
		it := Item{Size: uint32(r.rng.IntN(3) * 500), Index: r.index, Sub: 7, Flags: Persistent}
		if r.rng.IntN(4) == 0 {
			it.Expires = r.now + r.rng.Int64N(300)
		}
		if r.rng.IntN(3) == 0 {
			it.Due = r.now + 1 + r.rng.Int64N(300)
		}
		it.Env = env(fmt.Sprintf("%d/%d", r.index, r.rng.IntN(1000)))
		old, ok := r.s.Replace(h, &it)
		want := r.q.find(h)
		if ok != (want != nil) {
			r.t.Fatalf("replaced %x: %v", h, ok)
		}
		if !ok {
			continue
		}
		requireItem(r.t, &old, &want.Item)
		it.Handle, it.Count, it.Flags = h, want.Count, it.Flags|want.Flags&Redelivered
		want.Item = it
		switch {
		case want.status == Unacked || want.status == Blocked:
		case it.Due != 0:
			want.status = Scheduled
		case want.status == Scheduled:
			want.status = Ready
		}
	}
	for range r.rng.IntN(5) {
		h, count := r.pick(), uint32(r.rng.IntN(4))
		want := r.q.find(h)
		if ok := r.s.Recount(h, count); ok != (want != nil) {
			r.t.Fatalf("counted %x: %v", h, ok)
		}
		if want != nil {
			want.Count = count
		}
	}
}
