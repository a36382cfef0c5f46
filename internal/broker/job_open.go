package broker

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"fiveways/internal/core/job"
	"fiveways/internal/core/queue"
)

// opening is how a queue comes to know its jobs. The first command about jobs has all messages read for their ids, a page at a time so that the
// shard goes on meanwhile; the others wait.
type opening struct {
	mu   sync.Mutex  // held by whoever reads
	done atomic.Bool // the queue knows all its jobs
}

// asJobs has a queue know its jobs. Errors: errGoneMeanwhile, ErrWrongKind, ErrClosed.
func (s *Session) asJobs(q *Queue, err error) (*Queue, error) {
	if err != nil {
		return nil, err
	}
	if !q.jobsOpening.done.Load() {
		err = s.b.openJobs(q)
	}
	return q, err
}

// asFound is asJobs for a queue that is used for jobs already. Any other is left as it is: who only counts does not make it one.
func (s *Session) asFound(q *Queue, err error) (*Queue, error) {
	if err != nil || q.jobsOpening.done.Load() {
		return q, err
	}
	used := false
	if err = s.ask(q.shard, func() { used = q.jobs != nil }); err != nil || !used {
		return q, err
	}
	return s.asJobs(q, nil)
}

func (b *Broker) openJobs(q *Queue) error {
	q.jobsOpening.mu.Lock()
	defer q.jobsOpening.mu.Unlock()
	if q.jobsOpening.done.Load() {
		return nil
	}
	var refused error
	if err := q.shard.call(func() { refused = q.shard.keepBook(q) }); err != nil { // what comes from now on is noticed
		return err
	}
	if refused != nil {
		return refused
	}
	all, err := b.browse(q)
	if err != nil {
		return goneMeanwhile(err)
	}
	all.behind = true
	for {
		page, err := all.Next(pageMessages)
		if err != nil {
			return goneMeanwhile(err)
		}
		if len(page) == 0 {
			break
		}
		if err := q.shard.call(func() { q.indexPage(page) }); err != nil {
			return err
		}
	}
	err = q.shard.call(func() { q.shard.openedJobs(q) })
	q.jobsOpening.done.Store(err == nil)
	return err
}

// goneMeanwhile has Session.Do look for the queue again when it is not there any more.
func goneMeanwhile(err error) error {
	if errors.Is(err, ErrQueueNotFound) {
		return errGoneMeanwhile
	}
	return err
}

// keepBook begins the book of a queue, unless it has one from before the start. Errors: ErrWrongKind.
func (sh *shard) keepBook(q *Queue) error {
	switch {
	case q.gone || q.jobs != nil:
		return nil
	case q.stream != nil:
		return q.errWrongKind()
	}
	book := job.NewBook()
	if q.Durable {
		book = sh.m.book(q.ID)
		sh.entry.data = appendBook(sh.entry.data, q.ID)
		sh.sub++
	}
	q.jobs = newJobs(book)
	q.jobs.skip()
	return nil
}

// skip has the leases to come have numbers which those did not have that no restart survived, nor those of a queue of the same name that was deleted:
// who reports on them late must not end another's lease.
func (j *jobs) skip() { j.book.Skip(minSkip + rand.Uint64N(maxSkip)) } // #nosec G404 -- keeps numbers apart; no secret

const (
	minSkip = 1 << 32
	maxSkip = 1 << 40 // small enough for all starts that there will be
)

// indexPage takes notice of messages that were there before. Meanwhile they may have gone.
func (q *Queue) indexPage(page []Browsed) {
	if q.gone {
		return
	}
	for i := range page {
		m := &page[i]
		if q.state.Status(m.Handle) != queue.Gone {
			q.indexJob(m.Handle, m.Env, m.Due)
		}
		if l := q.jobs.book.Leased(m.Handle); l != nil {
			l.First, _ = jobTimes(m.Env)
			l.Key = q.jobs.keys.Of(messageID(m.Env))
		}
	}
}

// openedJobs completes what is known of jobs when all messages were read: what waits behind another waits for it, or is ready when that has gone.
func (sh *shard) openedJobs(q *Queue) {
	if q.gone {
		return
	}
	j := q.jobs
	j.book.EachLease(func(l *job.Lease) {
		if own := l.Key; !q.isFirstKey(own, l.Handle) {
			l.Key = j.keys.Of(q.jobID(nil, l.Handle))
		}
	})
	var orphans []job.Key
	for key := range j.behind {
		if h, ok := q.firstJob(key); ok {
			j.fronts[h] = key
		} else {
			orphans = append(orphans, key)
		}
	}
	for _, key := range orphans {
		sh.comeForward(q, key, sh.now)
	}
}

// isFirstKey is isFirstJob for a key.
func (q *Queue) isFirstKey(key job.Key, h queue.Handle) bool {
	first, ok := q.firstJob(key)
	return ok && first == h
}

// withBooks are the queues that kept a book before the start. The shards do not run yet.
func (b *Broker) withBooks() (queues []*Queue) {
	for _, sh := range b.shards {
		for _, id := range slices.Sorted(maps.Keys(sh.m.books)) {
			queues = append(queues, sh.queues[id])
		}
	}
	return queues
}

// reopenJobs has queues know their jobs again: what waits behind a message that a consumer acknowledges is to be ready without being asked for.
func (b *Broker) reopenJobs(queues []*Queue) {
	defer b.housekeeper.Done()
	for _, q := range queues {
		select {
		case <-b.stop:
			return
		default:
		}
		if err := b.openJobs(q); err != nil {
			b.log.Debug("the jobs of a queue are not known yet", "vhost", q.vhost.Name, "queue", q.Name, "err", err)
		}
	}
}
