package loans

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// A sweep first looks at firstPage messages, because they often suffice. Pages grow up to maxPage.
const (
	firstPage = 16
	maxPage   = 256
)

// Sweep goes once through the ready messages of a queue and lends the wanted ones. It ignores
// messages that arrive or return meanwhile, so it ends. It blocks the shard for one page at a time,
// however many messages are unwanted. The choice of messages and reads from disk do not run on the
// shard.
type Sweep struct {
	s      *broker.Session
	b      *inspect.Browser
	keep   func(message.Envelope) bool
	size   int               // of the next page
	page   []inspect.Message // to be chosen from next
	most   int               // how many are chosen at once; more only if some cannot be lent
	chosen []inspect.Message // chosen but not yet lent
}

// NewSweep begins a sweep. keep is as for Fetch, and not nil. Errors: those of Fetch.
func NewSweep(s *broker.Session, queueName string, keep func(message.Envelope) bool) (*Sweep, error) {
	b, err := inspect.BrowseReady(s, queueName)
	if err != nil {
		return nil, err
	}
	return &Sweep{s: s, b: b, keep: keep, size: firstPage}, nil
}

// Next lends the next messages, up to n as Fetch does, and none at the end. If an error occurs
// after some were lent, it returns these without the error. Errors: those of Fetch.
func (w *Sweep) Next(n int) (got []shard.Delivery, err error) {
	for len(got) < n {
		if len(w.chosen) == 0 && len(w.page) == 0 {
			w.page, err = w.b.Next(w.size)
			if err != nil || len(w.page) == 0 {
				if len(got) > 0 {
					err = nil
				}
				return got, err
			}
			w.size, w.most = min(2*w.size, maxPage), n-len(got)
		}
		if len(w.chosen) == 0 {
			w.chosen, w.page = choose(w.page, w.most, w.keep)
			w.most = len(w.page)
		}
		if len(w.chosen) == 0 {
			continue
		}
		c := lendChosen{sweep: w, got: got, max: n}
		err = w.s.Run(&c)
		switch got = c.got; {
		case errors.Is(err, broker.ErrFindAgain):
			w.chosen = nil // the queue is gone
		case err != nil:
			return got, err
		}
	}
	return got, nil
}

// choose takes up to n wanted messages off the front of a page.
func choose(page []inspect.Message, n int, keep func(message.Envelope) bool) (chosen, rest []inspect.Message) {
	for len(page) > 0 && len(chosen) < n {
		if keep(page[0].Env) {
			chosen = append(chosen, page[0])
		}
		page = page[1:]
	}
	return chosen, page
}

// lendChosen is the command that lends the chosen messages of a sweep that can still be lent, up to
// max.
type lendChosen struct {
	broker.OnQueue
	sweep *Sweep
	max   int
	got   []shard.Delivery
}

// Find implements broker.Command.
func (c *lendChosen) Find(broker.Finder) (*shard.Queue, error) { return c.sweep.b.Queue(), nil }

// Run implements broker.Command.
func (c *lendChosen) Run(at shard.Context) error {
	at.Use()
	at.Deliveries().Due(at.Now())
	w := c.sweep
	for ; len(w.chosen) > 0 && len(c.got) < c.max; w.chosen = w.chosen[1:] {
		m := &w.chosen[0]
		it, status := at.Deliveries().Get(m.Handle)
		if status != queue.Ready && status != queue.Parked || it.Expires != 0 && it.Expires <= at.Now() {
			continue
		}
		if it = at.Lend(m.Handle, m.Env); it != nil {
			c.got = append(c.got, at.Lent(c.By(), it, m.Env))
		}
	}
	at.Changed()
	return nil
}

// OfStreams marks it as a command for streams, too: their entries can be lent.
func (*lendChosen) OfStreams() {}
