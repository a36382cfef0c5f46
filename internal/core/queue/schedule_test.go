package queue

// lendDue takes some of the due messages, usually all.
func (r *run) lendDue() {
	n, due := 1+r.rng.IntN(5), 0
	if r.rng.IntN(3) != 0 {
		n = 1000
	}
	for _, it := range r.q.live {
		if it.status == Scheduled && it.Due <= r.now {
			due++
		}
	}
	lent := r.s.LendDue(r.now, n, nil)
	if len(lent) != min(n, due) {
		r.t.Fatalf("%d messages lent, want %d of %d", len(lent), n, due)
	}
	for i := range lent {
		want := r.q.find(lent[i].Handle)
		if want == nil || want.status != Scheduled || want.Due > r.now {
			r.t.Fatalf("lent %x: %+v", lent[i].Handle, want)
		}
		requireItem(r.t, &lent[i], &want.Item)
		want.status = Unacked
	}
	if at := r.s.NextEvent(); due > n && at > r.now {
		r.t.Fatalf("next event %d with %d more due at %d", at, due-n, r.now)
	}
}

// reschedule changes the time of a few messages, most of them scheduled.
func (r *run) reschedule() {
	for i := range r.q.live {
		it := &r.q.live[i]
		if r.rng.IntN(4) != 0 {
			continue
		}
		due := max(1, r.now-50+r.rng.Int64N(400))
		if got := r.s.Reschedule(it.Handle, due); got != (it.status == Scheduled) {
			r.t.Fatalf("rescheduled %x, which is %v: %v", it.Handle, it.status, got)
		}
		if it.status == Scheduled {
			if it.Expires != 0 {
				it.Expires += due - it.Due
			}
			it.Due = due
		}
	}
	if r.s.Reschedule(MakeHandle(0, 1<<40), 5) {
		r.t.Fatal("rescheduled a message that is not here")
	}
}
