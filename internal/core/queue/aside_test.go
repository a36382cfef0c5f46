package queue

// aside parks, blocks and restores messages. It is one of the random operations of TestTwin.
func (r *run) aside() {
	for range r.rng.IntN(30) {
		h := r.pick()
		switch r.rng.IntN(3) {
		case 0:
			r.turn("park", h, r.s.Park(h), Parked, Unacked)
		case 1:
			r.turn("block", h, r.s.Block(h), Blocked, Ready, Parked, Scheduled)
		case 2:
			to := Ready
			if want := r.q.find(h); want != nil && want.Due != 0 {
				to = Scheduled
			}
			r.turn("unblock", h, r.s.Unblock(h), to, Blocked)
		}
	}
	switch r.rng.IntN(4) {
	case 0:
		r.s.UnparkAll()
		for i := range r.q.live {
			if r.q.live[i].status == Parked {
				r.q.live[i].status = Ready
			}
		}
	case 1:
		r.oldest()
	}
}

// turn changes the status of one message in the twin if it is one of from, and compares.
func (r *run) turn(what string, h Handle, got bool, to Status, from ...Status) {
	r.t.Helper()
	want := false
	if it := r.q.find(h); it != nil {
		for _, status := range from {
			if it.status == status {
				it.status, want = to, true
				break
			}
		}
	}
	if got != want {
		r.t.Fatalf("%s %x: %v, want %v", what, h, got, want)
	}
}

func (r *run) oldest() {
	var want *twinItem
	for i := range r.q.live {
		if st := r.q.live[i].status; st == Ready || st == Parked {
			want = &r.q.live[i]
			break
		}
	}
	got := r.s.Oldest()
	if (got == nil) != (want == nil) {
		r.t.Fatalf("oldest %v, want %v", got, want)
	}
	if got != nil {
		requireItem(r.t, got, &want.Item)
		want.status = Unacked
	}
}
