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

// Machine is a state machine. Its methods are called one at a time, on any goroutine, and call no
// method of the broker that waits for an entry. When it has a method Sum() (sum uint64, ok bool),
// nodes of a cluster compare the sums, which are equal for equal content (Host.Sum).
type Machine interface {
	// Apply does what an entry says. It must not keep the entry. The same entries in the same order
	// give the same state, at any time.
	Apply(index uint64, entry []byte)
	// Freeze takes hold of the state after the last Apply, without stopping for long. write, which
	// runs once and beside further calls of Apply, writes it for Restore; size is about how many
	// bytes that will be.
	Freeze() (size int64, write func(io.Writer) error)
	// Restore takes the state that a write of Freeze has written. It comes before any Apply, or not
	// at all.
	Restore(r io.Reader) error
}

// MaxEntryBytes is how large an entry may be.
const MaxEntryBytes = 64 << 20

// The numbers that machines have in the log. They are far from the shards of messages, and still
// low enough for a broker that does not know of one to come to its facts and refuse them. Never
// renumber.
const (
	Keys       = 1 << 16  // the ordinary keys of etcd's API
	Semaphores = Keys + 1 // the task semaphores
)

// names are what people call them.
var names = map[uint32]string{Keys: "keys", Semaphores: "semaphores"}

// Known reports whether a number of the log is that of a machine.
func Known(shard uint32) bool { return names[shard] != "" }

// ShardName is what people call a shard of the log: that of a machine has a name, others a number.
func ShardName(shard uint32) string {
	if name, ok := names[shard]; ok {
		return name
	}
	return "shard " + strconv.FormatUint(uint64(shard), 10)
}

// factEntry is an entry of a machine, to the end. Never renumber.
const factEntry = 21

// ErrUnknown is the error of an entry for a machine that is not here.
var ErrUnknown = errors.New("broker: it has no such state machine")

// Log is what entries are appended to: a part of the broker's log.
type Log interface {
	Append(group []store.Entry, done func(error))
	AppendInline(group []store.Entry, done func(error))
	Commit()
}

// Store is where the log and the checkpoints of the machines are read, and checkpoints written.
type Store interface {
	Checkpoint(shard uint32) (io.ReadCloser, uint64, error)
	Replay(shard uint32, after uint64, fn func(index uint64, sub uint32, fact []byte) error) error
	ReplayEnd(shard uint32) uint64
	WriteCheckpoint(shard uint32, index uint64, write func(io.Writer) error) error
}

// Env is all of the broker that hosts touch.
type Env struct {
	Log     Log
	Store   Store
	Sync    store.SyncMode
	Logger  *slog.Logger
	Stop    <-chan struct{} // closed when the broker stops: no checkpoint is worth waiting for
	Await   func()          // holds the caller back while the log is behind
	Relieve func()          // lets the callers go on that Await holds back, if there is room
	Deadly  func()          // deferred where a caller applies entries: a panic ends the process
}

// Host is how the broker keeps the log of a machine and has it applied.
type Host struct {
	env     *Env
	shard   uint32
	machine Machine

	mu   sync.Mutex // order: Journal.mu or nothing, then mu of hosts in the order of their shards, then turn.mu or Store.mu
	last uint64     // index of the last entry appended
	shut bool       // it takes no more

	turn applying

	// These belong to what has the turn.
	applied uint64 // index of the last entry applied
	since   int64  // bytes applied since the checkpoint that covers most
	total   int64  // bytes applied since the process started, with what was replayed

	checkpoint checkpoint
}

// Entry is one entry on its way to the log and to its machine.
type Entry struct {
	h     *Host
	index uint64
	entry []byte // in the fact
	log   store.Entry
	done  func(index uint64, err error)
	err   error
}

// Index is the entry's index, once it is appended.
func (e *Entry) Index() uint64 { return e.index }

// Hosts are the hosts of a broker, in the order of their shards.
type Hosts []*Host

// New makes the hosts of machines, by their numbers.
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

// Of finds a host; nil when there is none of this number.
func (hs Hosts) Of(shard uint32) *Host {
	for _, h := range hs {
		if h.shard == shard {
			return h
		}
	}
	return nil
}

// Last is the index of the last entry recorded.
func (h *Host) Last() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// Shard is the number of the machine in the log.
func (h *Host) Shard() uint32 { return h.shard }

// NewEntry makes an entry for Append; h may be nil. Errors: ErrUnknown, failure.ErrTooLarge.
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

// Record puts an entry into the log and returns its index when it is durable and applied. It holds
// the caller back while the log is behind. The caller must not hold a lock that a Machine, a Sink
// or a Confirmer takes: they may run on its goroutine. h may be nil. Errors: ErrUnknown,
// failure.ErrTooLarge and failure.ErrClosed, after which the entry is not there;
// failure.ErrLogFailed, after which it is there when the broker starts again, or not.
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

// alone reports whether a caller that waits for its entry is to write the log inline: nothing else
// is on its way, or a write takes no time.
func (h *Host) alone() bool { return h.turn.out.Load() == 0 || h.env.Sync == store.SyncOS }

// RecordAll puts entries into the log, in their order and as one group: after a crash all of them
// are there, or none. It does not wait for them, nor while the log is behind: that is for the
// caller to see to. done is called once for each entry, with its place in entries, on any
// goroutine, also before RecordAll returns, when the entry is durable and applied or an error is
// known, those of Record: in the order of the log, after Apply and before the next Apply. It must
// not block, and must not call the broker.
//
// With inline the caller writes the log and applies the entries itself where Record would: it then
// waits for the disk.
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

// append gives entries their places in the log, as one group; false when the machine takes no more.
// With own the caller calls commit soon.
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

// place gives an entry its index. mu is held until it is appended.
func (h *Host) place(e *Entry) {
	h.last++
	e.index, e.log.Index = h.last, h.last
	h.turn.out.Add(1)
}

// logged says that entries are durable, or never will be. It runs on the goroutine that writes the
// log, for all of them in their order.
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
