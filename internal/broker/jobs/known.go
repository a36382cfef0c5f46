package jobs

import (
	"strconv"

	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/queue"
)

// known is the current knowledge about an id.
type known struct {
	key    job.Key
	id     []byte
	h      queue.Handle // of its message, if found
	found  bool
	status queue.Status
	behind queue.Handle // of the message that waits behind it, 0: none
	done   *job.Done    // nil: the id is not remembered
}

// know looks up an id.
func (q jobQueue) know(id []byte) (k known) {
	k.id, k.key = id, q.keys.Of(id)
	if k.h, k.found = q.first(k.key); !k.found {
		k.h, k.found = q.unnamed(id)
	}
	if k.found {
		k.status = q.Deliveries().Status(k.h)
	}
	if len(q.behind) > 0 {
		k.behind, _ = q.messageBehind(k.key)
	}
	k.done = q.ledger.Remembered(id)
	return k
}

// state returns the state of the id at a time.
func (k *known) state(now int64) job.State {
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

// unnamed finds a message without an id of its own, by "@" and its handle.
func (q jobQueue) unnamed(id []byte) (h queue.Handle, ok bool) {
	if len(id) < 2 || id[0] != '@' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(id[1:]), 10, 64)
	h = queue.Handle(n)
	if err != nil || !q.alive(h) || q.waitsBehind(h) {
		return 0, false
	}
	it, _ := q.Deliveries().Get(h)
	env, err := q.Load(it)
	if err != nil {
		return 0, false
	}
	own := messageID(env)
	return h, own == nil || !q.isFirst(q.keys.Of(own), h)
}

// isFirst reports whether a message owns the id of a key.
func (q jobQueue) isFirst(key job.Key, h queue.Handle) bool {
	first, ok := q.first(key)
	return ok && first == h
}

// idOf returns the id of a message, given its message-id.
func (q jobQueue) idOf(own []byte, h queue.Handle) []byte {
	if own != nil && q.isFirst(q.keys.Of(own), h) {
		return own
	}
	return unnamedID(h)
}

// unnamedID returns the id of a message that has no message-id, or one that another message owns.
func unnamedID(h queue.Handle) []byte { return strconv.AppendUint([]byte{'@'}, uint64(h), 10) }
