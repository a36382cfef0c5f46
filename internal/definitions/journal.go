package definitions

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/store"
)

// Shard is the number of the definitions in the log.
const Shard = 0

// Log is the log to which a Journal appends.
type Log interface {
	Append(group []store.Entry, done func(error))
}

// Journal holds the definitions with their log.
type Journal struct {
	State *catalog.State

	log  Log
	wait store.Wait

	mu    sync.Mutex
	index uint64 // guarded by mu: index of the last appended entry
	total int64  // guarded by mu: bytes in the log, including those present at the start
	since int64  // guarded by mu: bytes appended since the last checkpoint

	removed atomic.Uint64 // index of the last entry that removes a queue, an exchange or a binding

	promise struct {
		sync.Mutex
		cond    *sync.Cond
		durable atomic.Uint64 // changed with the lock held
		err     error
	}
}

// NewJournal returns a journal of a state in a log. wait is the durability of its writes.
func NewJournal(state *catalog.State, log Log, wait store.Wait) *Journal {
	j := &Journal{State: state, log: log, wait: wait}
	j.promise.cond = sync.NewCond(&j.promise)
	return j
}

// Lock begins a change. No other change begins until Unlock.
func (j *Journal) Lock() { j.mu.Lock() }

// Unlock ends a change.
func (j *Journal) Unlock() { j.mu.Unlock() }

// Settle waits until the current change is made. The caller holds no lock.
func (j *Journal) Settle() {
	j.mu.Lock()
	defer j.mu.Unlock()
}

// Last returns the index of the last entry. The caller holds the lock.
func (j *Journal) Last() uint64 { return j.index }

// Record appends the facts of a change as one atomic entry, and returns its index for Await.
// Without facts it returns the index of the last entry. The caller holds the lock.
func (j *Journal) Record(facts []byte) uint64 {
	if len(facts) == 0 {
		return j.index
	}
	j.index++
	index := j.index
	j.count(len(facts))
	j.log.Append([]store.Entry{{Shard: Shard, Index: index, Data: facts, Wait: j.wait}}, func(err error) {
		j.promise.Lock()
		if err != nil {
			j.promise.err = err
		} else {
			j.promise.durable.Store(index)
		}
		j.promise.Unlock()
		j.promise.cond.Broadcast()
	})
	return index
}

func (j *Journal) count(n int) {
	j.total += int64(n)
	j.since += int64(n)
}

// Await returns when the entry with the index is durable; 0 means none. Errors: ErrLogFailed.
func (j *Journal) Await(index uint64) error {
	p := &j.promise
	p.Lock()
	defer p.Unlock()
	for p.durable.Load() < index && p.err == nil {
		p.cond.Wait()
	}
	if p.durable.Load() >= index {
		return nil
	}
	return failure.LogFailed("definition", p.err)
}

// Removes notes that the last entry removes a queue, an exchange or a binding. The caller holds the
// lock, and the removal is not visible yet.
func (j *Journal) Removes(index uint64) { j.removed.Store(index) }

// AwaitRemovals returns when all removals that are visible now are durable: what is missing does
// not come back. It costs two atomic loads while no removal is being logged. The caller holds no
// lock. Errors: ErrLogFailed.
func (j *Journal) AwaitRemovals() error {
	index := j.removed.Load()
	if index <= j.promise.durable.Load() {
		return nil
	}
	return j.Await(index)
}

// AwaitLast returns when everything recorded so far is durable. The caller holds no lock. Errors:
// ErrLogFailed.
func (j *Journal) AwaitLast() error {
	j.mu.Lock()
	index := j.index
	j.mu.Unlock()
	return j.Await(index)
}

// Logged returns the number of logged bytes, including those present at the start, and the number
// since the last checkpoint.
func (j *Journal) Logged() (total, since int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.total, j.since
}

// Sum calls fn with a hash, which is equal for equal durable definitions, and the index of the last
// entry, which cannot change meanwhile. It does nothing if that index is but.
func (j *Journal) Sum(but uint64, fn func(sum, last uint64)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.index != but {
		fn(j.State.Hash(), j.index)
	}
}

// Recover restores the definitions from the checkpoint and the log after it, before anybody reads
// them. Errors: those of the store, shardstate.ErrUnsupported, shardstate.ErrMalformed.
func (j *Journal) Recover(st *store.Store) error {
	return j.State.Alone(func() error { return j.recover(st) })
}

func (j *Journal) recover(st *store.Store) error {
	j.total = st.Stats().Bytes // it is unknown which part is older than which checkpoint
	r, after, err := st.Checkpoint(Shard)
	if err != nil {
		return err
	}
	if r != nil {
		err = readFacts(r, func(fact []byte) error { return j.State.Apply(after, fact) })
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	j.applied(max(after, st.ReplayEnd(Shard)))
	return st.Replay(Shard, after, j.apply)
}

// Apply applies an entry that another node has recorded. An entry that is already applied has no
// effect. Errors: those of Recover.
func (j *Journal) Apply(index uint64, entry []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if index <= j.index {
		return nil
	}
	return store.EachFact(entry, func(_ uint32, fact []byte) error { return j.apply(index, 0, fact) })
}

// apply applies a durable fact.
func (j *Journal) apply(index uint64, _ uint32, fact []byte) error {
	j.count(len(fact))
	j.applied(max(j.index, index))
	return j.State.Apply(index, fact)
}

func (j *Journal) applied(index uint64) {
	j.index = index
	j.promise.durable.Store(index)
}

// Lead sets the log to which the journal appends.
func (j *Journal) Lead(log Log) { j.log = log }

// Checkpoint writes the current definitions.
func (j *Journal) Checkpoint(st *store.Store) error {
	j.mu.Lock()
	index := j.index
	j.since = 0
	var data []byte
	for f := range j.State.Facts {
		data = f.Append(data)
	}
	j.mu.Unlock()
	if err := j.Await(index); err != nil {
		return err
	}
	return st.WriteCheckpoint(Shard, index, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
