package broker

import (
	"fiveways/internal/core/job"
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// jobs is what a queue that is used for jobs keeps beside its messages. The book is in the log, the rest follows from the messages.
//
// Invariant: behind has the messages that wait behind others, fronts those which they wait for, both by key; each is forgotten when it turns out to
// be gone. All other messages with an id are in index, with some that are gone.
type jobs struct {
	book   *job.Book
	keys   job.Keys
	index  *ids
	behind map[job.Key]queue.Handle
	fronts map[queue.Handle]job.Key
}

// dueBehind is the time of a message that waits behind another with its id: it does not come, and is before those of dead letters.
const dueBehind = int64(1) << 61

func newJobs(book *job.Book) *jobs {
	return &jobs{book: book, keys: job.NewKeys(), index: newIDs(), behind: map[job.Key]queue.Handle{}, fronts: map[queue.Handle]job.Key{}}
}

// messageID is the property of a message, nil when it has none.
func messageID(env message.Envelope) []byte {
	id, ok := message.FindProperty(env.Properties(), message.HasMessageID)
	if !ok || len(id) == 0 {
		return nil
	}
	return id
}

// indexCleaned is how many buckets of the index are cleaned for each message that comes.
const indexCleaned = 2

// indexJob takes notice of a message.
func (q *Queue) indexJob(h queue.Handle, env message.Envelope, due int64) {
	j := q.jobs
	id := messageID(env)
	if id == nil {
		return
	}
	key := j.keys.Of(id)
	if due == dueBehind {
		j.behind[key] = h
		return
	}
	j.index.add(idSum(key), 0, h)
	j.index.clean(indexCleaned, q.goneJob)
}

// goneJob tells that an entry of the index is void.
func (q *Queue) goneJob(e *idEntry) bool { return q.state.Status(e.h) == queue.Gone }

// tidyJobs keeps the index small when messages go and none come.
func (q *Queue) tidyJobs() {
	x := q.jobs.index
	if int(x.made) <= slackEntries {
		return
	}
	live := q.state.Ready() + q.state.Unacked() + q.state.Scheduled() + q.state.Blocked()
	switch {
	case int(x.made) > 8*(live+slackEntries):
		q.jobs.index = x.rebuilt(q.goneJob)
	case x.used > 2*live+slackEntries:
		x.clean(cleanLook, q.goneJob)
	}
}

// firstJob is the message whose id a key stands for: the first in the order of the queue that has it and does not wait behind another.
func (q *Queue) firstJob(key job.Key) (h queue.Handle, ok bool) {
	x, best := q.jobs.index, noPlace
	for e := x.first(idSum(key)); e != 0; e = x.next(e) {
		if h := x.entry(e).h; q.aliveJob(h) {
			best = min(best, placeOf(h))
		}
	}
	return best.handle(), best != noPlace
}

// aliveJob tells whether a message is there and not dead: on its way to the dead-letter exchange.
func (q *Queue) aliveJob(h queue.Handle) bool {
	switch q.state.Status(h) {
	case queue.Gone:
		return false
	case queue.Unacked:
		if l := q.jobs.book.Leased(h); l != nil {
			return !l.Ended
		}
		it, _ := q.state.Get(h)
		_, dead := reasonOf(it.Due)
		return !dead
	}
	return true
}

// jobBehind is the message that waits behind the one of a key.
func (q *Queue) jobBehind(key job.Key) (h queue.Handle, ok bool) {
	h, ok = q.jobs.behind[key]
	if ok && !q.isBehind(h) {
		delete(q.jobs.behind, key)
		return 0, false
	}
	return h, ok
}

func (q *Queue) isBehind(h queue.Handle) bool {
	if q.state.Status(h) != queue.Scheduled {
		return false
	}
	it, _ := q.state.Get(h)
	return it.Due == dueBehind
}

// jobsWent takes notice that n contiguous messages have gone. What waited behind one of them is ready.
func (sh *shard) jobsWent(q *Queue, h queue.Handle, n int) {
	j := q.jobs
	j.book.End(h, n)
	eachIn(j.fronts, h, n, func(h queue.Handle) {
		key := j.fronts[h]
		delete(j.fronts, h)
		sh.comeForward(q, key, sh.now)
	})
}

// comeForward has the message that waits behind a key be the one of its id, ready at a time (unix ms).
func (sh *shard) comeForward(q *Queue, key job.Key, at int64) {
	h, ok := q.jobBehind(key)
	if !ok {
		return
	}
	delete(q.jobs.behind, key)
	q.jobs.index.add(idSum(key), 0, h)
	it, _ := q.state.Get(h)
	expires := it.Expires
	if expires != 0 {
		expires += at - it.Due
	}
	env, err := sh.loadAnywhere(it)
	if err == nil {
		env, err = withHeader(env, jobFirstHeader, at)
	}
	if err == nil {
		sh.replace(q, h, env, expires, at)
	} else {
		sh.reschedule(q, h, at) // its delivery will tell
	}
	q.state.Due(sh.now)
	sh.mark(q)
}

// loadAnywhere is the message of an item, read aside when it is only on disk.
func (sh *shard) loadAnywhere(it *queue.Item) (message.Envelope, error) {
	if it.Env != nil {
		return it.Env, nil
	}
	return sh.loadAside(it)
}

// replace puts another message in the place of one.
func (sh *shard) replace(q *Queue, h queue.Handle, env message.Envelope, expires, due int64) {
	was, _ := q.state.Get(h)
	it := queue.Item{Size: uint32(len(env.Body())), Env: env, Expires: expires, Due: due, Flags: was.Flags & queue.Persistent}
	logged := it.Flags&queue.Persistent != 0
	if logged {
		it.Index, it.Sub = sh.index, sh.sub
	}
	old, _ := q.state.Replace(h, &it)
	switch {
	case logged:
		sh.targets = append(sh.targets[:0], target{q.ID, h, expires})
		sh.entry.data = appendMessage(sh.entry.data, factReplace, sh.targets, due, env)
		sh.entry.refs++
		sh.sub++
		sh.entry.release(old.Index)
	case old.Flags&queue.Scratch != 0:
		sh.releaseSpilled(old.Index)
	}
	sh.mark(q)
}

// endLeases takes back what is leased and whose time is over.
func (sh *shard) endLeases(q *Queue) {
	book := q.jobs.book
	for l := book.Over(sh.now); l != nil; l = book.Over(sh.now) {
		h := l.Handle
		q.used(sh.now)
		sh.requeue(&op{kind: opReturn, queue: q, handle: h, n: 1})
		book.Finish(h) // one that could not be taken back is not looked at again
		sh.doLocal()
	}
}

// catchUp brings a queue to the time that it is.
func (sh *shard) catchUp(q *Queue) {
	q.used(sh.now)
	if q.jobs != nil {
		sh.endLeases(q)
	}
	q.state.Due(sh.now)
}

// isLogged tells whether what happens to a message is recorded.
func isLogged(it *queue.Item) bool { return it.Flags&queue.Persistent != 0 }
