package replica

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/storage/store"
)

var (
	// ErrNotLeader means that this node does not lead. Nothing was done.
	ErrNotLeader = errors.New("replica: not the leader")
	// ErrBusy means that the members cannot be changed now. Nothing was done.
	ErrBusy = errors.New("replica: another change of the members is in progress; try again")
	// ErrTooLarge means that a group exceeds MaxGroupBytes. The machine has applied it, so the
	// replica stops. A machine keeps well below the limit.
	ErrTooLarge = errors.New("replica: the group is larger than 256 MiB, which the log of a cluster does not take")
	// ErrStopped means that the replica was stopped.
	ErrStopped = errors.New("replica: stopped")
)

// MaxGroupBytes is the maximum size of the data of the entries in a group.
const MaxGroupBytes = 256 << 20

// Log is the log of one term of leadership, to which the leader's engine appends. It has the
// methods of the broker's Log. Any goroutine may call them.
type Log struct {
	term   uint64
	st     *store.Store
	now    func() time.Duration
	submit func(proposal)

	lease atomic.Int64 // the lease ends at this value of now; 0: the leadership is over
	open  atomic.Int64 // pending proposals
	bytes atomic.Int64 // bytes of the pending proposals

	over atomic.Bool // the leadership is over

	mu       sync.Mutex
	lent     sync.Cond           // with mu: the lease has changed or ended
	ended    bool                // guarded by mu: the leadership is over, and the watchers know it
	watchers []func(store.State) // guarded by mu
}

func newLog(term uint64, st *store.Store, now func() time.Duration, submit func(proposal)) *Log {
	l := &Log{term: term, st: st, now: now, submit: submit}
	l.lent.L = &l.mu
	return l
}

// proposal is an operation with a fixed place in the order of the log.
type proposal struct {
	log   *Log
	group []store.Entry // nil: a barrier, or a read
	read  bool
	own   []byte // an entry of the replica itself
	done  func(error)

	at   time.Duration // when it was submitted
	size int           // of group
}

// Append proposes an atomic group of entries. It does not wait. done is called on the replica's
// goroutine, in the order of the calls. It gets nil once the group is committed, store.ErrLost if
// the leadership ended before the outcome was known, or ErrNotLeader if the leadership was already
// over. Append ignores Wait of the entries. It calls Written just before done.
func (l *Log) Append(group []store.Entry, done func(error)) {
	size := int64(batchSize(group))
	l.bytes.Add(size)
	l.put(proposal{log: l, group: group, done: func(err error) {
		l.bytes.Add(-size)
		if err == nil {
			for i := range group {
				if fn := group[i].Written; fn != nil {
					fn()
				}
			}
		}
		done(err)
	}})
}

// AppendInline is the same as Append: only the replica's goroutine writes.
func (l *Log) AppendInline(group []store.Entry, done func(error)) { l.Append(group, done) }

// Commit does nothing: Append has woken the replica's goroutine.
func (l *Log) Commit() {}

// Barrier calls done once all earlier appends are committed. It ignores the arguments shards and
// wait, because all shards share one log. Errors are those of Append.
func (l *Log) Barrier(_ []uint32, _ store.Wait, done func(error)) {
	if l.open.Load() == 0 && l.Leads() {
		done(nil)
		return
	}
	l.put(proposal{log: l, done: done})
}

// Check makes the other nodes compare their state: sum is the hash of a part of the state at its
// present place in the log, after everything appended so far (Machine.Sum). A node with another
// hash stops with ErrDiverged.
func (l *Log) Check(part uint32, place [2]uint64, sum uint64) {
	l.put(proposal{log: l, own: encodeCheck(part, place, sum), done: func(error) {}})
}

// ReadIndex calls done with nil once a quorum has confirmed, after the call, that this node leads.
// This node's state then includes everything that any node has acknowledged.
func (l *Log) ReadIndex(done func(error)) { l.put(proposal{log: l, read: true, done: done}) }

func (l *Log) put(p proposal) {
	l.open.Add(1)
	done := p.done
	p.done = func(err error) {
		l.open.Add(-1)
		done(err)
	}
	l.submit(p)
}

// Leads reports whether it is certain that no other node can lead at this moment.
func (l *Log) Leads() bool { return int64(l.now()) < l.lease.Load() }

// AwaitLead returns true once it is certain that no other node can lead, and false once the
// leadership is over and its watchers know that. Only after it has returned true may clients see
// the leader's state.
func (l *Log) AwaitLead() bool {
	if l.Leads() {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.Leads() && !l.ended {
		l.lent.Wait()
	}
	return !l.ended
}

// lend extends the lease to the given value of now, unless it already lasts longer.
func (l *Log) lend(until time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lease.Store(max(l.lease.Load(), int64(until)))
	l.lent.Broadcast()
}

// Term returns the term of the leadership.
func (l *Log) Term() uint64 { return l.term }

// Pending returns the number of bytes appended but not yet committed.
func (l *Log) Pending() int64 { return l.bytes.Load() }

// State returns the health of this node's disk, or Failed with store.ErrLost once the leadership is
// over.
func (l *Log) State() store.State {
	if l.over.Load() {
		return store.State{Health: store.Failed, Err: store.ErrLost}
	}
	return l.st.State()
}

// Watch registers fn, which is called on the replica's goroutine when State changes: at the end of
// the leadership, before open proposals get store.ErrLost.
func (l *Log) Watch(fn func(store.State)) {
	l.mu.Lock()
	l.watchers = append(l.watchers, fn)
	l.mu.Unlock()
	l.st.Watch(fn)
}

// end ends the leadership.
func (l *Log) end() {
	l.lease.Store(0)
	l.over.Store(true)
	l.mu.Lock()
	watchers := l.watchers
	l.mu.Unlock()
	for _, fn := range watchers {
		fn(l.State())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.lent.Broadcast()
}

// Retry makes a log that is out of space retry at once.
func (l *Log) Retry() { l.st.Retry() }

func (l *Log) String() string { return fmt.Sprintf("log of term %d", l.term) }
