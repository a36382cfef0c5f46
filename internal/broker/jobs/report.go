package jobs

import (
	"bytes"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Find implements broker.Command.
func (r *Report) Find(f broker.Finder) (*shard.Queue, error) { return readable(f, r.Queue, false) }

// Run implements broker.Command.
func (r *Report) Run(at shard.Context) error {
	q := jobsAt(at)
	q.CatchUp()
	l := q.leaseOf(r.ID, r.Token)
	if l == nil {
		return q.fail(failure.ErrStale, r.ID)
	}
	if r.Outcome == Retry {
		due := int64(0)
		if r.Backoff > 0 {
			due = q.Now() + min(r.Backoff, shard.MaxSpan)
		}
		q.noteError(l.Handle, r.Error)
		q.Requeue(l.Handle, due)
		return nil
	}
	r.end(q, l)
	q.Changed()
	return nil
}

// leaseOf returns the lease that a token identifies, or nil if it is over.
func (q jobQueue) leaseOf(id []byte, t Token) *job.Lease {
	l := q.ledger.Leased(t.handle)
	if l == nil || l.Ended || l.Number != t.number {
		return nil
	}
	if l.Key != q.keys.Of(id) && string(id) != string(unnamedID(t.handle)) { // it had no id when it was taken, and may have got one since
		return nil
	}
	return l
}

// end finishes the job: it removes the message, remembers the id, and makes a message that waits
// behind it ready.
func (r *Report) end(q jobQueue, l *job.Lease) {
	h := l.Handle
	it, _ := q.Deliveries().Get(h)
	d := job.Done{ID: string(r.ID), Attempts: it.Count + 1, First: l.First}
	if r.Backoff > 0 {
		d.Until = q.Now() + min(r.Backoff, shard.MaxSpan)
		q.remember(&d)
	} else if q.ledger.Remembered(r.ID) == nil {
		q.ledger.Mention(&d)
	}
	if key, ok := q.fronts[h]; ok {
		delete(q.fronts, h)
		q.comeForward(key, max(d.Until, q.Now()))
	}
	if r.Outcome == Failed {
		if q.Queue().Policy().DeadLetter {
			q.noteError(h, r.Error)
		}
		q.Reject(h)
		return
	}
	q.Acked()
	q.Settle(h, 1)
}

// remember makes the queue remember an id.
func (q jobQueue) remember(d *job.Done) {
	q.Facts().UseForJobs(q.Content())
	q.Facts().Remembered(q.Content(), d)
}

// noteError adds an error text, if there is one, to the headers of a message. A message that cannot
// be read stays as it is.
func (q jobQueue) noteError(h queue.Handle, text []byte) {
	if len(text) == 0 {
		return
	}
	it, _ := q.Deliveries().Get(h)
	expires, due := it.Expires, it.Due
	was, err := q.Load(it)
	if err != nil {
		return
	}
	env, err := withHeader(was, errorHeader, firstPart(string(text), maxError))
	if err == nil && !bytes.Equal(env, was) {
		q.Replace(h, env, expires, due)
	}
}

// firstPart returns the longest prefix of a text, in whole characters, that has at most so many
// bytes.
func firstPart(text string, most int) string {
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// Find implements broker.Command.
func (e *Extend) Find(f broker.Finder) (*shard.Queue, error) { return readable(f, e.Queue, false) }

// Run implements broker.Command.
func (e *Extend) Run(at shard.Context) error {
	q := jobsAt(at)
	q.CatchUp()
	l := q.leaseOf(e.ID, e.Token)
	if l == nil {
		return q.fail(failure.ErrStale, e.ID)
	}
	until := q.Now() + min(max(e.Lock, 0), shard.MaxSpan)
	q.Facts().Lease(q.Content(), l.Handle, l.Number, until, l.Logged)
	q.Changed()
	return nil
}
