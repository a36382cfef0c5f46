package semaphores

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/core/semaphore"
)

// The facts of a log entry; docs/format/semaphores.md describes them. Never renumber.
const (
	factCreate     = 1
	factAt         = 2
	factConfigure  = 3
	factDelete     = 4
	factDrop       = 5
	factPut        = 6
	factRemove     = 7
	factTransition = 8
)

// formatVersion is the first byte of an entry and of a checkpoint.
const formatVersion = 1

// Bits of a task's flags; the status is above them.
const (
	taskLease  = 1
	taskOwner  = 2
	taskStatus = 2 // shift
)

// maxSeq is above the number of any task.
const maxSeq = 1 << 61

var errFormat = errors.New("semaphores: malformed entry")

// facts is an entry being built.
type facts struct {
	b  []byte
	at *sem // the semaphore that the next facts concern
}

// about begins a fact about a semaphore.
func (f *facts) about(s *sem, kind byte) {
	if len(f.b) == 0 {
		f.b = append(f.b, formatVersion)
	}
	if f.at != s {
		f.at = s
		f.b = binary.AppendUvarint(append(f.b, factAt), s.id)
	}
	f.b = append(f.b, kind)
}

func (f *facts) create(s *sem) {
	f.at = s // the fact itself sets the semaphore
	f.about(s, factCreate)
	f.b = appendIdentity(f.b, s)
	f.b = appendConfig(f.b, s.state.Config())
}

func (f *facts) configure(s *sem) {
	f.about(s, factConfigure)
	f.b = appendConfig(f.b, s.state.Config())
}

func (f *facts) delete(s *sem) { f.about(s, factDelete) }

func (f *facts) drop(s *sem) { f.about(s, factDrop) }

func (f *facts) put(s *sem, t *semaphore.Task) {
	f.about(s, factPut)
	f.b = appendTask(f.b, t)
}

func (f *facts) remove(s *sem, id string) {
	f.about(s, factRemove)
	f.b = codec.AppendPrefixed(f.b, id)
}

// transition encodes the transition numbered s.events.
func (f *facts) transition(s *sem, id string, e semaphore.Event) {
	f.about(s, factTransition)
	f.b = binary.AppendUvarint(append(f.b, byte(e)), s.events)
	f.b = codec.AppendPrefixed(f.b, id)
}

func appendIdentity(b []byte, s *sem) []byte {
	b = binary.AppendUvarint(b, s.id)
	b = binary.AppendUvarint(codec.AppendPrefixed(b, s.vhost.Name), s.vhost.Made)
	b = codec.AppendPrefixed(b, s.key)
	return binary.AppendUvarint(b, uint64(s.created))
}

func appendConfig(b []byte, c semaphore.Config) []byte {
	flags := byte(0)
	if c.Ascending {
		flags = 1
	}
	return codec.AppendUvarints(append(b, flags), uint64(c.Active), uint64(c.TryRelease), uint64(c.Lease))
}

func appendTask(b []byte, t *semaphore.Task) []byte {
	flags := byte(t.Status) << taskStatus
	if t.Lease != 0 {
		flags |= taskLease
	}
	if t.Owner != 0 {
		flags |= taskOwner
	}
	b = codec.AppendPrefixed(append(b, flags), t.ID)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(t.Priority))
	b = codec.AppendUvarints(b, t.Seq, uint64(t.Enqueued))
	if t.Lease != 0 {
		b = binary.AppendUvarint(b, uint64(t.Lease))
	}
	if t.Owner != 0 {
		b = binary.LittleEndian.AppendUint64(b, uint64(t.Owner))
	}
	return b
}

// appendHeader appends what a checkpoint records of a semaphore before its tasks.
func appendHeader(b []byte, s *sem) []byte {
	b = appendConfig(appendIdentity(b, s), s.state.Config())
	deleted := byte(0)
	if s.deleted {
		deleted = 1
	}
	return codec.AppendUvarints(append(b, deleted), s.events, s.state.NextSeq())
}

// header is a decoded header.
type header struct {
	sem
	config  semaphore.Config
	nextSeq uint64
}

// reader decodes facts.
type reader struct{ codec.Reader }

// failure returns the first error: of the reader, or that the bytes are malformed.
func (r *reader) failure() error {
	switch err := r.Err(); err {
	case codec.ErrTruncated, codec.ErrVarint:
		return fmt.Errorf("%w: %w", errFormat, err)
	default:
		return err
	}
}

// most reads a number and fails if it exceeds limit.
func (r *reader) most(limit uint64) uint64 {
	v := r.Uvarint()
	if v > limit {
		r.Fail(fmt.Errorf("%w: %d is more than %d", errFormat, v, limit))
		return 0
	}
	return v
}

// str reads a name.
func (r *reader) str() string { return string(r.Bytes(int(r.most(255)))) }

func (r *reader) identity() sem {
	s := sem{id: r.Uvarint(), vhost: catalog.VHostID{Name: r.str(), Made: r.Uvarint()}, key: r.str(), created: int64(r.most(math.MaxInt64))}
	if s.id == 0 || s.key == "" {
		r.Fail(fmt.Errorf("%w: a semaphore without a name", errFormat))
	}
	return s
}

func (r *reader) config() semaphore.Config {
	flags := r.Uint8()
	return semaphore.Config{
		Ascending: flags&1 != 0, Active: int(r.most(math.MaxInt32)), TryRelease: int(r.most(math.MaxInt32)), Lease: int64(r.most(math.MaxInt64)),
	}
}

func (r *reader) task() semaphore.Task {
	flags := r.Uint8()
	t := semaphore.Task{
		Status: semaphore.Status(flags >> taskStatus), ID: r.str(), Priority: math.Float64frombits(r.Uint64LE()), Seq: r.Uvarint(), Enqueued: int64(r.most(math.MaxInt64)),
	}
	if flags&taskLease != 0 {
		t.Lease = int64(r.most(math.MaxInt64))
	}
	if flags&taskOwner != 0 {
		t.Owner = int64(r.Uint64LE())
	}
	if t.Status > semaphore.TryRelease || t.ID == "" || t.Seq == 0 || t.Seq >= maxSeq || math.IsNaN(t.Priority) || math.IsInf(t.Priority, 0) {
		r.Fail(fmt.Errorf("%w: a task that cannot be", errFormat))
	}
	return t
}

func (r *reader) header() header {
	h := header{sem: r.identity(), config: r.config()}
	h.deleted = r.Uint8() != 0
	h.events, h.nextSeq = r.Uvarint(), r.most(maxSeq)
	return h
}

// version reads and checks the first byte.
func (r *reader) version() {
	if v := r.Uint8(); r.Err() == nil && v != formatVersion {
		r.Fail(fmt.Errorf("%w: version %d of the semaphores", errUnsupported, v))
	}
}
