package statemachine

import (
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/shardstate"
	"fiveways.dev/fiveways/internal/storage/store"
)

// Machine is a state machine. Its methods are called one at a time, on any goroutine, and must not
// call a method of the broker that waits for an entry. If it has a method Sum() (sum uint64, ok
// bool), the nodes of a cluster compare the sums, which are equal for equal content (Host.Sum).
type Machine interface {
	// Apply applies an entry. It must not keep the entry. The same entries in the same order must
	// lead to the same state, at any time.
	Apply(index uint64, entry []byte)
	// Freeze takes a snapshot of the state after the last Apply, without a long pause. write writes
	// it for Restore; it is called once, possibly concurrently with later calls of Apply. size is
	// the approximate number of bytes.
	Freeze() (size int64, write func(io.Writer) error)
	// Restore restores the state that a write of Freeze has written. It is called before any Apply,
	// or not at all.
	Restore(r io.Reader) error
}

// MaxEntryBytes is the maximum size of an entry.
const MaxEntryBytes = 64 << 20

// Numbers of the machines in the log. They are far from the shards of messages, but low enough that
// a broker that does not know a machine still reads its facts and rejects them. Never renumber.
const (
	Keys       = 1 << 16  // the ordinary keys of etcd's API
	Semaphores = Keys + 1 // the task semaphores
)

// names holds the names of machines for messages.
var names = map[uint32]string{Keys: "keys", Semaphores: "semaphores"}

// Known reports whether a number in the log belongs to a machine.
func Known(shard uint32) bool { return names[shard] != "" }

// ShardName returns the name of a shard of the log for messages: a machine has a name, other shards
// have a number.
func ShardName(shard uint32) string {
	if name, ok := names[shard]; ok {
		return name
	}
	return "shard " + strconv.FormatUint(uint64(shard), 10)
}

// factEntry is an entry of a machine, which extends to the end of the fact. Never renumber.
const factEntry = 21

// ErrUnknown is the error for an entry of a machine that is not present.
var ErrUnknown = errors.New("broker: it has no such state machine")

// Log is the part of the broker's log to which entries are appended.
type Log interface {
	Append(group []store.Entry, done func(error))
	AppendInline(group []store.Entry, done func(error))
	Commit()
}

// Store reads the log and the checkpoints of the machines, and writes checkpoints.
type Store interface {
	Checkpoint(shard uint32) (io.ReadCloser, uint64, error)
	Replay(shard uint32, after uint64, fn func(index uint64, sub uint32, fact []byte) error) error
	ReplayEnd(shard uint32) uint64
	WriteCheckpoint(shard uint32, index uint64, write func(io.Writer) error) error
}

// Env is the part of the broker that hosts use.
type Env struct {
	Log     Log
	Store   Store
	Sync    store.SyncMode
	Logger  *slog.Logger
	Stop    <-chan struct{} // closed when the broker stops: then checkpoints are aborted
	Await   func()          // blocks the caller while the log is behind
	Relieve func()          // releases callers blocked in Await, if there is room
	Deadly  func()          // deferred where callers apply entries: a panic ends the process
}

// Host manages the log of a machine and applies its entries.
type Host struct {
	env     *Env
	shard   uint32
	machine Machine

	mu   sync.Mutex // lock order: Journal.mu, mu of hosts by shard, applying.mu or Store.mu
	last uint64     // index of the last entry appended
	shut bool       // further entries are refused

	turn applying

	// The fields below belong to the holder of the turn.
	applied uint64 // index of the last applied entry
	since   int64  // bytes applied since the latest checkpoint
	total   int64  // bytes applied since the process started, including replayed ones

	checkpoint checkpoint
}

// Entry is an entry that is being recorded.
type Entry struct {
	h     *Host
	index uint64
	entry []byte // part of the fact
	log   store.Entry
	done  func(index uint64, err error)
	err   error
}

// Index returns the entry's index, which is set when the entry is appended.
func (e *Entry) Index() uint64 { return e.index }

// Hosts are the hosts of a broker, in the order of their shards.
type Hosts []*Host

// New returns the hosts of machines, which are given by their numbers.
func New(env *Env, machines map[uint32]Machine) (all Hosts) {
	for _, shard := range slices.Sorted(maps.Keys(machines)) {
		h := &Host{env: env, shard: shard, machine: machines[shard]}
		t := &h.turn
		t.free = sync.NewCond(&t.mu)
		t.wake, t.quit, t.stopped = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
		all = append(all, h)
	}
	return all
}

// Of returns the host with this number, or nil.
func (hs Hosts) Of(shard uint32) *Host {
	for _, h := range hs {
		if h.shard == shard {
			return h
		}
	}
	return nil
}

// Last returns the index of the last recorded entry.
func (h *Host) Last() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// Shard returns the number of the machine in the log.
func (h *Host) Shard() uint32 { return h.shard }

// NewEntry returns an entry for Append. h may be nil. Errors: ErrUnknown, failure.ErrTooLarge.
func (h *Host) NewEntry(entry []byte) (*Entry, error) { return h.newEntry(entry, nil) }

func (h *Host) newEntry(entry []byte, done func(index uint64, err error)) (*Entry, error) {
	if h == nil {
		return nil, ErrUnknown
	}
	if len(entry) > MaxEntryBytes {
		return nil, &failure.Error{Err: failure.ErrTooLarge, Kind: "entry"}
	}
	fact := shardstate.AppendFact(make([]byte, 0, len(entry)+8), factEntry, len(entry))
	fact = append(fact, entry...)
	e := &Entry{h: h, entry: fact[len(fact)-len(entry):], done: done}
	e.log = store.Entry{Shard: h.shard, Data: fact, Wait: h.env.Sync.Wait()}
	return e, nil
}

// Record records an entry and returns its index when it is durable and applied. It blocks while the
// log is behind. The caller must not hold a lock that a Machine, a Sink or a Confirmer takes, since
// they may run on its goroutine. h may be nil. Errors: ErrUnknown, failure.ErrTooLarge and
// failure.ErrClosed mean that the entry was not recorded. After failure.ErrLogFailed it may or may
// not exist when the broker starts again.
func (h *Host) Record(entry []byte) (uint64, error) {
	result := make(chan error, 1)
	e, err := h.newEntry(entry, func(_ uint64, err error) { result <- err })
	if err != nil {
		return 0, err
	}
	h.env.Await()
	own := h.alone()
	if !h.append([]*Entry{e}, own) {
		return 0, failure.ErrClosed
	}
	if own {
		Hosts{h}.commit()
	}
	if err := <-result; err != nil {
		return 0, err
	}
	return e.index, nil
}

// alone reports whether a caller that waits for its entry should write the log inline: nothing else
// is in flight, or the log does not wait for a sync.
func (h *Host) alone() bool { return h.turn.out.Load() == 0 || h.env.Sync == store.SyncOS }

// RecordAll records entries in order as one atomic group. It waits neither for them nor while the
// log is behind: the caller must take care of that. done is called once for each entry, with its
// index in entries, when the entry is durable and applied or has failed with an error of Record. It
// is called on any goroutine, possibly before RecordAll returns, in log order, after the Apply of
// its entry and before the next Apply. It must neither block nor call the broker.
//
// With inline the caller writes the log and applies the entries itself under the same conditions as
// in Record: then it waits for the disk.
func (h *Host) RecordAll(entries [][]byte, inline bool, done func(i int, index uint64, err error)) {
	es := make([]*Entry, 0, len(entries))
	for i, entry := range entries {
		e, err := h.newEntry(entry, func(index uint64, err error) { done(i, index, err) })
		if err != nil {
			done(i, 0, err)
			continue
		}
		es = append(es, e)
	}
	if len(es) == 0 {
		return
	}
	own := inline && h.alone()
	if !h.append(es, own) {
		for _, e := range es {
			e.done(0, failure.ErrClosed)
		}
		return
	}
	if own {
		Hosts{h}.commit()
	}
}

// append appends entries to the log as one group. It returns false if the machine is closed. With
// own the caller will call commit.
func (h *Host) append(es []*Entry, own bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shut {
		return false
	}
	group := make([]store.Entry, len(es))
	for i, e := range es {
		h.place(e)
		group[i] = e.log
	}
	logged := func(err error) { h.logged(err, es...) }
	if own {
		h.env.Log.AppendInline(group, logged)
	} else {
		h.env.Log.Append(group, logged)
	}
	return true
}

// place assigns an index to an entry. The caller holds mu until the entry is appended.
func (h *Host) place(e *Entry) {
	h.last++
	e.index, e.log.Index = h.last, h.last
	h.turn.out.Add(1)
}

// logged is called when entries are durable or have failed. It runs on the goroutine that writes
// the log, in log order.
func (h *Host) logged(err error, es ...*Entry) {
	for _, e := range es {
		if err != nil {
			e.err = failure.LogFailed(ShardName(h.shard), err)
		}
	}
	h.turn.hand(es)
	h.env.Relieve()
}

// Close refuses further entries.
func (h *Host) Close() {
	h.mu.Lock()
	h.shut = true
	h.mu.Unlock()
}
