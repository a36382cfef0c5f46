package shardstate

import (
	"fiveways.dev/fiveways/internal/core/dedup"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/stream"
)

// Queue is the state of one queue on its shard. Its fields may be read; only a Recorder or
// Machine.Apply changes them.
type Queue struct {
	ID      uint64
	Durable bool // its changes are recorded
	State   *queue.State
	Keys    *dedup.Memory  // nil: the queue does not de-duplicate
	Stream  *stream.Stream // nil unless it is a stream
	Jobs    *job.Ledger    // nil: no message is leased, and the queue is not used for jobs

	copyTo *Frozen // lacks a copy of the queue; nil: none does
}

// NewQueue returns an empty queue.
func NewQueue(id uint64, durable bool) *Queue {
	return &Queue{ID: id, Durable: durable, State: &queue.State{}}
}

// RememberKeys sets the memory for message keys, before the queue has any contents.
func (q *Queue) RememberKeys(m *dedup.Memory) { q.Keys = m }

// UsedForJobs reports whether jobs were enqueued, remembered or taken in the queue.
func (q *Queue) UsedForJobs() bool { return q.Jobs != nil && q.Jobs.Used }

// hash returns a hash that is equal for equal durable contents.
func (q *Queue) hash() uint64 {
	h := q.State.Hash() ^ q.ID*0x9E3779B97F4A7C15
	h ^= h >> 29
	sum := h * 0xBF58476D1CE4E5B9
	if q.Keys != nil {
		sum += (q.Keys.Hash() ^ q.ID) * 0x94D049BB133111EB
	}
	if q.Stream != nil {
		sum += (q.Stream.Hash() ^ q.ID) * 0xD6E8FEB86659FD93
	}
	if q.Jobs != nil {
		if h := q.Jobs.Hash(); h != 0 { // an empty ledger equals none
			sum += (h ^ q.ID) * 0xA0761D6478BD642F
		}
	}
	return sum
}
