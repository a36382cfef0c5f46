package broker

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"

	"fiveways/internal/storage/store"
)

// Annex is a state machine beside the queues that lives in the broker's log: entries that mean nothing to the broker, applied in the order of the
// log once they are durable. After a start it has the state that its last checkpoint had, and is given the entries behind that again.
//
// Its methods are called one at a time, on any goroutine, and call no method of the broker that waits for an entry. When it has a method
// Hash() uint64, equal for equal content, that is part of Broker.Hash.
type Annex interface {
	// Apply does what an entry says. It must not keep the entry. The same entries in the same order give the same state, at any time.
	Apply(index uint64, entry []byte)
	// Freeze takes hold of the state after the last Apply, without stopping for long. write, which runs once and beside further calls of Apply,
	// writes it for Restore; size is about how many bytes that will be.
	Freeze() (size int64, write func(io.Writer) error)
	// Restore takes the state that a write of Freeze has written. It comes before any Apply, or not at all.
	Restore(r io.Reader) error
}

// MaxRecordBytes is how large an entry of an annex may be.
const MaxRecordBytes = 64 << 20

// The numbers that annexes have in the log. They are far from the shards of messages, and still low enough for a broker that does not know of one to
// come to its facts and refuse them. Never renumber.
const (
	KeyShard       = 1 << 16      // the ordinary keys of etcd's API
	SemaphoreShard = KeyShard + 1 // the task semaphores
)

// annexNames are what people call them.
var annexNames = map[uint32]string{KeyShard: "keys", SemaphoreShard: "semaphores"}

// ShardName is what people call a shard of the log: that of an annex has a name, others a number.
func ShardName(shard uint32) string {
	if name, ok := annexNames[shard]; ok {
		return name
	}
	return "shard " + strconv.FormatUint(uint64(shard), 10)
}

// factAnnex is an entry of an annex, to the end. Never renumber.
const factAnnex = 21

var errNoAnnex = errors.New("broker: it has no such annex")

// annex is how the broker keeps the log of an Annex and has it applied.
type annex struct {
	b       *Broker
	shard   uint32
	machine Annex

	mu   sync.Mutex // order: catalog.mu or nothing, then mu of annexes in the order of their shards, then turn.mu or Store.mu
	last uint64     // index of the last entry appended
	shut bool       // it takes no more

	turn applying

	// These belong to who has the turn.
	applied uint64 // index of the last entry applied
	since   int64  // bytes applied since the checkpoint that covers most
	total   int64  // bytes applied since the process started, with what was replayed

	checkpoint annexCheckpoint
}

// record is one entry on its way to the log and to the annex.
type record struct {
	a     *annex
	index uint64
	entry []byte // in the fact
	group [1]store.Entry
	done  func(index uint64, err error)
	err   error
}

// newAnnexes makes those that there are, in the order of their shards.
func newAnnexes(b *Broker) (all []*annex) {
	for _, shard := range slices.Sorted(maps.Keys(b.opts.Annexes)) {
		a := &annex{b: b, shard: shard, machine: b.opts.Annexes[shard]}
		t := &a.turn
		t.free = sync.NewCond(&t.mu)
		t.wake, t.quit, t.stopped = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
		all = append(all, a)
	}
	return all
}

// annex finds an annex; nil when there is none of this number.
func (b *Broker) annex(shard uint32) *annex {
	for _, a := range b.annexes {
		if a.shard == shard {
			return a
		}
	}
	return nil
}

// newRecord makes a record of an entry; a may be nil.
func (a *annex) newRecord(entry []byte, done func(index uint64, err error)) (*record, error) {
	if a == nil {
		return nil, errNoAnnex
	}
	if len(entry) > MaxRecordBytes {
		return nil, &Error{Err: ErrTooLarge, Kind: "entry"}
	}
	fact := appendFact(make([]byte, 0, len(entry)+8), factAnnex, len(entry))
	fact = append(fact, entry...)
	r := &record{a: a, entry: fact[len(fact)-len(entry):], done: done}
	r.group[0] = store.Entry{Shard: a.shard, Data: fact, Wait: a.b.opts.Sync.Wait()}
	return r, nil
}

// Recorder puts entries of one annex into the log.
type Recorder struct{ a *annex }

// Recorder is for the annex of a number.
func (b *Broker) Recorder(shard uint32) Recorder { return Recorder{b.annex(shard)} }

// Record puts an entry into the log and returns its index when it is durable and applied. It holds the caller back while the log is behind. The
// caller holds no lock that an Annex, a Sink or a Confirmer takes: they may run on his goroutine. Errors: ErrLogFailed, after which the entry is
// there when the broker starts again, or not; ErrClosed and ErrTooLarge, after which it is not.
func (rec Recorder) Record(entry []byte) (uint64, error) {
	a := rec.a
	result := make(chan error, 1)
	r, err := a.newRecord(entry, func(_ uint64, err error) { result <- err })
	if err != nil {
		return 0, err
	}
	a.b.flow.await()
	own := a.alone()
	if !a.append(r, own) {
		return 0, ErrClosed
	}
	if own {
		a.b.commit()
		a.visit()
	}
	if err := <-result; err != nil {
		return 0, err
	}
	return r.index, nil
}

// alone tells whether who records an entry and waits for it is to do the work of the log himself: nobody else is at it, or it takes no time.
func (a *annex) alone() bool { return a.turn.out.Load() == 0 || a.b.opts.Sync == store.SyncOS }

// RecordAsync puts an entry into the log and returns; it may hold the caller back while the log is behind. done is called once, on any goroutine,
// also before RecordAsync returns, when the entry is durable and applied or an error is known, those of Record: in the order of the log, after
// Apply and before the next Apply. It must not block, and must not call the broker.
func (rec Recorder) RecordAsync(entry []byte, done func(index uint64, err error)) {
	a := rec.a
	r, err := a.newRecord(entry, done)
	if err != nil {
		done(0, err)
		return
	}
	a.b.flow.await()
	if !a.append(r, false) {
		done(0, ErrClosed)
	}
}

// append gives a record its place in the log; false when the annex takes no more. With own the caller calls commit soon.
func (a *annex) append(r *record, own bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shut {
		return false
	}
	a.place(r)
	logged := func(err error) { a.logged(err, r) }
	if own {
		a.b.store.AppendOwn(r.group[:], logged)
	} else {
		a.b.store.Append(r.group[:], logged)
	}
	return true
}

// place gives a record its index. mu is held until it is appended.
func (a *annex) place(r *record) {
	a.last++
	r.index, r.group[0].Index = a.last, a.last
	a.turn.out.Add(1)
}

// logged says that records are durable, or never will be. It runs on the goroutine that writes the log, for all of them in their order.
func (a *annex) logged(err error, rs ...*record) {
	for _, r := range rs {
		if err != nil {
			r.err = logFailed(ShardName(a.shard), err)
		}
	}
	a.turn.hand(rs)
	a.b.flow.relieve()
}

// close refuses further entries.
func (a *annex) close() {
	a.mu.Lock()
	a.shut = true
	a.mu.Unlock()
}
