package broker

import (
	"strconv"

	"fiveways/internal/core/job"
	"fiveways/internal/core/queue"
)

// knownJob is what is known of an id.
type knownJob struct {
	key    job.Key
	id     []byte
	h      queue.Handle // of its message, when found
	found  bool
	status queue.Status
	behind queue.Handle // of the message that waits behind it, 0: none
	done   *job.Done    // nil: it is not remembered
}

// knowJob finds out what is known of an id.
func (q *Queue) knowJob(id []byte) (k knownJob) {
	k.id, k.key = id, q.jobs.keys.Of(id)
	if k.h, k.found = q.firstJob(k.key); !k.found {
		k.h, k.found = q.unnamedJob(id)
	}
	if k.found {
		k.status = q.state.Status(k.h)
	}
	if len(q.jobs.behind) > 0 {
		k.behind, _ = q.jobBehind(k.key)
	}
	k.done = q.jobs.book.Remembered(id)
	return k
}

// state is what is happening to the id at a time.
func (k *knownJob) state(now int64) job.State {
	switch {
	case k.found && k.status == queue.Unacked && k.behind != 0:
		return job.LockedWithRequeue
	case k.found && k.status == queue.Unacked:
		return job.Locked
	case k.found && k.done != nil:
		return job.DoneWithRequeue
	case k.found && k.status == queue.Scheduled:
		return job.QueuedWithBackoff
	case k.found:
		return job.Queued
	case k.done == nil:
		return job.None
	case k.done.Until > now:
		return job.DoneWithBackoff
	}
	return job.DoneAwaitingGC
}

// unnamedJob finds the message that has an id for want of one of its own: "@" and its handle.
func (q *Queue) unnamedJob(id []byte) (h queue.Handle, ok bool) {
	if len(id) < 2 || id[0] != '@' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(id[1:]), 10, 64)
	h = queue.Handle(n)
	if err != nil || !q.aliveJob(h) || q.isBehind(h) {
		return 0, false
	}
	it, _ := q.state.Get(h)
	env, err := q.shard.loadAnywhere(it)
	if err != nil {
		return 0, false
	}
	own := messageID(env)
	return h, own == nil || !q.isFirstJob(own, h)
}

// isFirstJob tells whether a message is the one of its id.
func (q *Queue) isFirstJob(id []byte, h queue.Handle) bool {
	first, ok := q.firstJob(q.jobs.keys.Of(id))
	return ok && first == h
}

// jobID is the id of a message, given its own.
func (q *Queue) jobID(own []byte, h queue.Handle) []byte {
	if own != nil && q.isFirstJob(own, h) {
		return own
	}
	return unnamedID(h)
}

// unnamedID is the id of a message that has none, or whose id another one has already.
func unnamedID(h queue.Handle) []byte { return strconv.AppendUint([]byte{'@'}, uint64(h), 10) }
