package shard

import (
	"fiveways.dev/fiveways/internal/core/list"
	"time"
)

// An implicit queue was created by a command because it did not exist. It is removed when it has
// been empty and unused for a while, or when it is cleared by name. Its shard decides that, and
// another goroutine (implicit_remove.go) removes it from the definitions. A declaration makes the
// queue explicit: it then stays.

const (
	// idleTime is how long (ms) an implicit queue stays after its last use, and at most twice as
	// long, while there are few of them.
	idleTime = int64(time.Hour / time.Millisecond)
	// shortIdleTime replaces idleTime while there are more than fewImplicit of them.
	shortIdleTime = int64(10 * time.Second / time.Millisecond)
	fewImplicit   = 10_000
	// idleLooks is the number of queues that a shard checks in one round.
	idleLooks = 256
)

// implicits are the implicit queues of a shard, the least recently checked first. Each is checked
// from time to time, and removed if nothing has happened to it since the last check. So using a
// queue costs nothing here.
type implicits struct {
	list.List[look, *look]
	few int // up to this many are kept for idleTime
}

// look is what the last check of an implicit queue found. It belongs to the queue's shard.
type look struct {
	q       *Queue
	at      int64  // unix ms
	changes uint64 // Queue.changes then
	links   list.Links[look]
	leaving bool // it is or was in removals
}

// Links implements the element of a list.
func (l *look) Links() *list.Links[look] { return &l.links }

func (l *implicits) add(q *Queue, now int64) {
	q.seen = look{q: q, at: now, changes: q.changes}
	l.Add(&q.seen)
}

// patience returns how long a queue may be unused, in ms.
func (l *implicits) patience() int64 {
	if l.Len() > l.few {
		return shortIdleTime
	}
	return idleTime
}

// due returns when the next queue must be checked, in unix ms.
func (l *implicits) due() int64 {
	first := l.First()
	if first == nil {
		return noTime
	}
	return first.at + l.patience()
}

// wake returns when the shard next has work without an op, in unix ms.
func (sh *Shard) wake() int64 { return min(sh.timers.next(), sh.implicits.due()) }

// lookAtImplicit checks the implicit queues that are due.
func (sh *Shard) lookAtImplicit() {
	l := &sh.implicits
	for n := 0; n < idleLooks && l.due() <= sh.now; n++ {
		q, patience := l.First().q, l.patience()
		l.Remove(&q.seen)
		switch {
		case !q.Implicit():
		case q.changes == q.seen.changes && q.lastUsed+patience <= sh.now && q.idle(sh.now):
			sh.letGo(q)
		default:
			l.add(q, sh.now)
		}
	}
}

// letGo lists an idle queue for removal. It is not removed if it is used before that.
func (sh *Shard) letGo(q *Queue) {
	sh.implicits.Remove(&q.seen)
	q.seen.changes = q.changes
	if !q.seen.leaving {
		q.seen.leaving = true
		sh.set.Definer.LetGo(q)
	}
}

// letGoCleared is letGo for a queue that was just cleared by name.
func (sh *Shard) letGoCleared(q *Queue) {
	if (q.seen.links.In() || q.seen.leaving) && q.idle(sh.now) && (q.content.Jobs == nil || q.content.Jobs.RememberedIDs() == 0) {
		sh.letGo(q)
	}
}

// watchTime is how long (ms) a queue stays after a client has asked for its version (Look).
const watchTime = int64(time.Minute / time.Millisecond)

// idle reports whether an implicit queue holds nothing that a client could see, and no client
// consumes from it or waits for it. It ignores bindings, which belong to the catalog. An empty
// stream is not idle.
func (q *Queue) idle(now int64) bool {
	return !q.gone && q.Implicit() && q.content.Stream == nil && q.isEmpty() && q.dead == nil &&
		q.consumers.Len() == 0 && q.waiting.First() == nil && q.loanWaiters == nil && (q.watched == 0 || q.watched+watchTime <= now) &&
		(q.content.Jobs == nil || q.content.Jobs.Leases() == 0 && q.content.Jobs.InBackoff(now) == 0)
}

// RemoveIdle drops the listed queues that are still idle, except those for which keep returns true.
// Errors: ErrClosed.
func (sh *Shard) RemoveIdle(queues []*Queue, keep func(*Queue) bool) (removed []*Queue, err error) {
	err = sh.Call(func() {
		for _, q := range queues {
			if keep(q) {
				sh.implicits.add(q, sh.now)
			} else if sh.removeIfIdle(q) {
				removed = append(removed, q)
			}
		}
	})
	return removed, err
}

// removeIfIdle drops a listed queue, or keeps it if it has been used since.
func (sh *Shard) removeIfIdle(q *Queue) (removed bool) {
	switch {
	case q.gone:
	case q.changes == q.seen.changes && q.idle(sh.now):
		sh.drop(q, DropWhen{}) //nolint:errcheck // there is no condition
		q.removed = true
		return true
	case q.Implicit():
		sh.implicits.add(q, sh.now)
	}
	return false
}

// passOn republishes a message whose queue was removed as idle before the message arrived, to a new
// queue of that name. The new queue sends the confirm.
func (sh *Shard) passOn(q *Queue, o *Op) {
	again := *o
	again.More, again.Consumer, again.order, again.Extra = nil, nil, nil, nil
	if len(o.More) > 0 || o.Queue != q {
		again.Confirm = nil // the other targets answer
	}
	if again.Confirm != nil {
		o.Confirm = nil
	}
	sh.set.Definer.PassOn(q, again)
}
