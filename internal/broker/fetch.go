package broker

import (
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// Fetch asks for ready messages of a queue.
type Fetch struct {
	Queue string
	Max   int // at most so many, at least 1
	// Keep tells which messages are wanted, nil: all. The others stay where they are, ready for
	// everybody. It is called on the caller's goroutine, with messages in the order of the queue;
	// one that it wants may be gone by the time it is asked for.
	Keep func(env message.Envelope) bool
}

// A trip to the shard lends at most so many messages, or bytes of them.
const (
	fetchMessages = 1024
	fetchBytes    = 1 << 20
)

// Fetch lends up to f.Max ready messages in the order of the queue, without a consumer: each is the
// session's until it is acknowledged, rejected, returned or released (Session or Tx). None means
// that nothing is ready now; what others hold may come back. It minds what Get minds: groups,
// times, expiry. Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive, ErrClosed.
func (s *Session) Fetch(f Fetch) ([]Delivery, error) {
	s.Flush()
	if err := s.may(toRead, "queue", f.Queue); err != nil {
		return nil, err
	}
	q, err := s.usableQueue(f.Queue)
	if err != nil {
		return nil, err
	}
	if f.Keep != nil {
		return s.fetchKept(q, &f)
	}
	if s.fetched == nil {
		s.fetched = make(chan struct{}, 1)
	}
	t := fetchTrip{s: s, q: q, max: max(f.Max, 1), done: s.fetched}
	for t.again = true; t.again; {
		t.again = false
		if _, ok := q.shard.submit(s, op{kind: opFetch, extra: &t}, false); !ok {
			return t.got, ErrClosed
		}
		<-t.done
	}
	return t.got, nil
}

// fetchTrip is a fetch of all that is ready, on its way to the shard and back.
type fetchTrip struct {
	s     *Session
	q     *Queue
	max   int
	got   []Delivery
	again bool // it had to stop before it was through
	done  chan struct{}
}

// run lends what one trip may.
func (t *fetchTrip) run(sh *shard) {
	q := t.q
	defer func() { t.done <- struct{}{} }()
	if q.gone {
		return
	}
	q.used(sh.now)
	sh.catchUpConsumers(q)
	if t.got == nil {
		t.got = make([]Delivery, 0, min(t.max, max(q.state.Ready(), 1), fetchMessages))
	}
	n, bytes := 0, 0
	for len(t.got) < t.max {
		if n == fetchMessages || bytes >= fetchBytes {
			t.again = true
			break
		}
		it, again := sh.getNext(q, false)
		if it == nil {
			t.again = again
			break
		}
		sh.got(q, it, false)
		t.got = append(t.got, newDelivery(q, it))
		sh.tapDelivery(&t.got[len(t.got)-1], holder{session: t.s})
		n, bytes = n+1, bytes+len(it.Env)
	}
	sh.mark(q)
}

// firstPage is how many messages a fetch that chooses looks at first: often one of them will do.
// Pages grow from there.
const firstPage = 16

// fetchKept is a Sweep that stops when it has enough: the shard stands still for no longer than a
// page, however many are refused, and neither the choice nor reading from the disk is its work.
func (s *Session) fetchKept(q *Queue, f *Fetch) ([]Delivery, error) {
	w, err := s.sweep(q, f.Keep)
	if err != nil {
		return nil, err
	}
	return w.Next(max(f.Max, 1))
}

// Sweep goes once through the messages that are ready in a queue and lends those that are wanted.
// What comes, or comes back, while it goes is not looked at, so it ends.
type Sweep struct {
	s    *Session
	b    *Browser
	keep func(message.Envelope) bool
	size int       // of the next page
	page []Browsed // looked at next
	most int       // chosen of it at once; more are asked for only when some cannot be had
	wish []Browsed // chosen and to be asked for
}

// Sweep begins a sweep; keep is that of Fetch and not nil. Errors: those of Fetch.
func (s *Session) Sweep(queueName string, keep func(message.Envelope) bool) (*Sweep, error) {
	q, err := s.readable(queueName)
	if err != nil {
		return nil, err
	}
	return s.sweep(q, keep)
}

func (s *Session) sweep(q *Queue, keep func(message.Envelope) bool) (*Sweep, error) {
	b, err := s.browse(q)
	if err != nil {
		return nil, err
	}
	b.ready = true
	return &Sweep{s: s, b: b, keep: keep, size: firstPage}, nil
}

// Next lends the next messages, up to n as those of Fetch, none at the end. With an error that
// comes after some were lent it returns these, and no error. Errors: those of Fetch.
func (w *Sweep) Next(n int) (got []Delivery, err error) {
	q := w.b.q
	for len(got) < n {
		if len(w.wish) == 0 && len(w.page) == 0 {
			w.page, err = w.b.Next(w.size)
			if err != nil || len(w.page) == 0 {
				if len(got) > 0 {
					err = nil
				}
				return got, err
			}
			w.size, w.most = min(2*w.size, pageMessages), n-len(got)
		}
		if len(w.wish) == 0 {
			w.wish, w.page = choose(w.page, w.most, w.keep)
			w.most = len(w.page)
		}
		if len(w.wish) == 0 {
			continue
		}
		asked := 0
		if err := w.s.at(q.shard, func() { got, asked = q.shard.lendChosen(w.s, q, w.wish, got, n) }); err != nil {
			return got, err
		}
		w.wish = w.wish[asked:]
	}
	return got, nil
}

// choose picks up to n messages off the front of a page.
func choose(page []Browsed, n int, keep func(message.Envelope) bool) (chosen, rest []Browsed) {
	for len(page) > 0 && len(chosen) < n {
		if keep(page[0].Env) {
			chosen = append(chosen, page[0])
		}
		page = page[1:]
	}
	return chosen, page
}

// lendChosen lends those of the chosen messages that still can be had, until got has want of them,
// and tells how many it looked at.
func (sh *shard) lendChosen(s *Session, q *Queue, chosen []Browsed, got []Delivery, want int) (all []Delivery, looked int) {
	if q.gone {
		return got, len(chosen)
	}
	q.used(sh.now)
	q.state.Due(sh.now)
	for ; looked < len(chosen) && len(got) < want; looked++ {
		if it := sh.lendOne(q, &chosen[looked]); it != nil {
			sh.got(q, it, false)
			d := newDelivery(q, it)
			d.Env = chosen[looked].Env
			sh.tapDelivery(&d, holder{session: s})
			got = append(got, d)
		}
	}
	sh.mark(q)
	return got, looked
}

// lendOne lends a ready message out of order, nil when it cannot be had: it is gone or held,
// expired, or somebody holds its group. The place of one that was parked is left for later.
func (sh *shard) lendOne(q *Queue, m *Browsed) *queue.Item {
	it, status := q.state.Get(m.Handle)
	if status != queue.Ready && status != queue.Parked || it.Expires != 0 && it.Expires <= sh.now {
		return nil
	}
	if q.selective == nil {
		return q.state.Lend(m.Handle)
	}
	return q.selective.Lend(m.Handle, m.Env)
}

// Release gathers the end of a loan: n contiguous messages that Fetch lent are back at their place
// as if they had never been out, neither counted nor marked as redelivered.
func (s *Session) Release(q *Queue, h queue.Handle, n int) { s.settle(opRelease, q, nil, h, n) }

// Release adds the end of a loan, as Session.Release.
func (t *Tx) Release(q *Queue, h queue.Handle, n int) { t.settle(opRelease, q, nil, h, n) }

// release puts n contiguous messages back to their place.
func (sh *shard) release(o *op) {
	q := o.queue
	if q.gone {
		return
	}
	if q.selective != nil {
		q.selective.Release(o.handle, int(o.n))
	}
	for i := range queue.Handle(o.n) {
		q.state.Release(o.handle+i, sh.now)
	}
	if q.after != nil {
		q.after.Block(o.handle, int(o.n))
	}
	sh.loansEnded(q, o.handle, int(o.n))
	sh.setEarly(q, o.handle, int(o.n))
	sh.mark(q)
	sh.dropHead(q)
}
