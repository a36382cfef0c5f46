package jobs

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/queue"
)

// ready makes a queue's jobs known. The first job command reads the ids of all messages, one page
// at a time so that the shard can do other work; other commands wait for it. Errors:
// broker.ErrFindAgain, ErrWrongKind, ErrClosed.
func ready(f broker.Finder, q *shard.Queue, err error) (*shard.Queue, error) {
	if err != nil {
		return nil, err
	}
	if d := directoryOf(q); d == nil || !d.known.Load() {
		err = open(f.Broker(), q)
	}
	return q, err
}

// readyIfUsed is ready for a queue that already has a ledger. It does nothing for others, because
// counting needs no ids.
func readyIfUsed(f broker.Finder, q *shard.Queue, err error) (*shard.Queue, error) {
	if err != nil {
		return nil, err
	}
	if d := directoryOf(q); d != nil && d.known.Load() {
		return q, nil
	}
	used := false
	if err = f.At(q, func(at shard.Context) { used = at.Content().Jobs != nil }); err != nil || !used {
		return q, err
	}
	return ready(f, q, nil)
}

// writable finds a queue to enqueue jobs in, and creates it if create is set.
func writable(f broker.Finder, name string, create bool) (*shard.Queue, error) {
	q, err := f.ToPublish(name, create)
	return ready(f, q, err)
}

// readable finds a queue to take jobs from, and creates it if create is set.
func readable(f broker.Finder, name string, create bool) (*shard.Queue, error) {
	q, err := f.Queue(broker.Reading, name, create)
	return ready(f, q, err)
}

// openPage is how many messages are read at once.
const openPage = 256

// open makes a queue's jobs known.
func open(b *broker.Broker, q *shard.Queue) error {
	var refused error
	if err := b.At(q, func(at shard.Context) { refused = attach(at) }); err != nil { // from now on new messages are added
		return err
	}
	if refused != nil {
		return refused
	}
	d := directoryOf(q)
	if d == nil {
		return broker.ErrFindAgain // the queue is gone
	}
	d.opening.Lock()
	defer d.opening.Unlock()
	if d.known.Load() {
		return nil
	}
	all, err := inspect.BrowseAll(b, q)
	if err != nil {
		return broker.IfGone(err)
	}
	for {
		page, err := all.Next(openPage)
		if err != nil {
			return broker.IfGone(err)
		}
		if len(page) == 0 {
			break
		}
		if err := b.At(q, func(at shard.Context) { jobQueue{at, d}.indexPage(page) }); err != nil {
			return err
		}
	}
	err = b.At(q, func(at shard.Context) { jobQueue{at, d}.opened() })
	d.known.Store(err == nil)
	return err
}

// attach gives a queue its directory, and a ledger unless it has one. Errors: ErrWrongKind, and
// broker.ErrFindAgain if the queue is gone.
func attach(at shard.Context) error {
	switch {
	case at.Gone():
		return broker.ErrFindAgain
	case directoryOf(at.Queue()) != nil:
		return nil
	case at.Content().Stream != nil:
		return at.Queue().Fail(failure.ErrWrongKind)
	}
	at.Attach(newDirectory(at.OpenLedger()))
	return nil
}

// indexPage adds existing messages to the directory. Some of them may be gone already.
func (q jobQueue) indexPage(page []inspect.Message) {
	if q.Gone() || q.Content().Stream != nil {
		return
	}
	for i := range page {
		m := &page[i]
		if q.Deliveries().Status(m.Handle) != queue.Gone {
			q.OnPublish(q.Context, m.Handle, m.Env, m.Due)
		}
		if l := q.ledger.Leased(m.Handle); l != nil {
			l.First, _ = jobTimes(m.Env)
			l.Key = q.keys.Of(messageID(m.Env))
		}
	}
}

// opened completes the directory when all messages have been read: a message that waits behind
// another keeps waiting, or becomes ready if the other has gone.
func (q jobQueue) opened() {
	if q.Gone() {
		return
	}
	q.ledger.EachLease(func(l *job.Lease) {
		if !q.isFirst(l.Key, l.Handle) {
			l.Key = q.keys.Of(unnamedID(l.Handle))
		}
	})
	var orphans []job.Key
	for key := range q.behind {
		if h, ok := q.first(key); ok {
			q.fronts[h] = key
		} else {
			orphans = append(orphans, key)
		}
	}
	for _, key := range orphans {
		q.comeForward(key, q.Now())
	}
}

// Resume makes the jobs of all queues with a ledger known again after a start, in the background.
// Otherwise a message that waits behind one that a consumer acknowledges would not become ready
// before the next command about jobs.
func Resume(b *broker.Broker) {
	b.Go(func(stop <-chan struct{}) {
		var queues []*shard.Queue
		err := b.EachQueue(func(at shard.Context) {
			if at.Content().Jobs != nil {
				queues = append(queues, at.Queue())
			}
		})
		if err != nil {
			return // the broker is closing
		}
		for _, q := range queues {
			select {
			case <-stop:
				return
			default:
			}
			_ = open(b, q) // the queue is gone, or a stream, or the broker is closing
		}
	})
}
