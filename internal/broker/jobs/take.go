package jobs

import (
	"errors"
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/queue"
)

// takeBytes bounds the bytes of messages that one Take leases, because it blocks the shard.
const takeBytes = 1 << 20

// takeRoom bounds the jobs for which a Take makes room at once.
const takeRoom = 128

// Find implements broker.Command.
func (t *Take) Find(f broker.Finder) (*shard.Queue, error) {
	t.Jobs = t.Jobs[:0]
	return readable(f, t.Queue, t.Create)
}

// Others appends the queue of each Take in the Unless chain. This one runs only if none of them got
// a job or failed.
func (t *Take) Others(dst []*shard.Queue) []*shard.Queue {
	for u := t.Unless; u != nil; u = u.Unless {
		if q := u.Found(); q != nil {
			dst = append(dst, q)
		}
	}
	return dst
}

// settled reports whether this Take is not needed because of an earlier one, or already has a
// result.
func (t *Take) settled() bool {
	return t.Got() || t.Err != nil && !errors.Is(t.Err, failure.ErrQueueNotFound) || t.Unless != nil && t.Unless.settled()
}

// Run implements broker.Command.
func (t *Take) Run(at shard.Context) error {
	clear(t.Jobs)
	t.Jobs = t.Jobs[:0]
	if t.Unless != nil && t.Unless.settled() {
		return nil
	}
	q := jobsAt(at)
	q.CatchUp()
	if !t.Plain {
		q.Facts().UseForJobs(q.Content())
	}
	q.Facts().ForgetPassed(q.Content(), q.Now())
	most := max(t.Max, 1)
	for size := 0; len(t.Jobs) < most && size < takeBytes; {
		it := q.Take(t.By(), false, false)
		if it == nil {
			break
		}
		if size += len(it.Env); len(t.Jobs) == 0 {
			t.Jobs = slices.Grow(t.Jobs, min(most, 1+q.Deliveries().Ready(), takeRoom))
		}
		t.Jobs = append(t.Jobs, t.lease(q, it))
	}
	return nil
}

// lease leases a message that was just taken.
func (t *Take) lease(q jobQueue, it *queue.Item) Job {
	first, lock := jobTimes(it.Env)
	if lock <= 0 {
		lock = t.Lock
	}
	if lock <= 0 {
		lock = DefaultLock
	}
	lock = min(lock, shard.MaxSpan)
	h := it.Handle
	taken := Job{Env: it.Env, Attempt: it.Count + 1, Token: Token{h, q.ledger.Next()}, Lock: lock, First: first}
	taken.ID = q.idOf(messageID(it.Env), h)
	q.Facts().Lease(q.Content(), h, taken.Token.number, q.Now()+lock, isLogged(it))
	l := q.ledger.Leased(h)
	l.Key, l.First = q.keys.Of(taken.ID), first
	return taken
}
