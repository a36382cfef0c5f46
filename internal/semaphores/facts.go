package semaphores

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"fiveways/internal/broker"
	"fiveways/internal/core/semaphore"
)

// The facts of an entry of the log; docs/format/semaphores.md describes them. Never renumber.
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

// Bits of a task's flags; above them is its status.
const (
	taskLease  = 1
	taskOwner  = 2
	taskStatus = 2 // shift
)

// maxSeq is more than the number of any task.
const maxSeq = 1 << 61

var errFormat = errors.New("semaphores: malformed entry")

// facts is an entry in the making.
type facts struct {
	b  []byte
	at *sem // whom the next facts are about
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
	f.at = s // that is what the fact itself says
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
	f.b = appendStr(f.b, id)
}

// transition is about the transition that s.events numbers.
func (f *facts) transition(s *sem, id string, e semaphore.Event) {
	f.about(s, factTransition)
	f.b = binary.AppendUvarint(append(f.b, byte(e)), s.events)
	f.b = appendStr(f.b, id)
}

func appendStr(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendU64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

func appendIdentity(b []byte, s *sem) []byte {
	b = binary.AppendUvarint(b, s.id)
	b = binary.AppendUvarint(appendStr(b, s.vhost.Name), s.vhost.Made)
	b = appendStr(b, s.key)
	return binary.AppendUvarint(b, uint64(s.created))
}

func appendConfig(b []byte, c semaphore.Config) []byte {
	flags := byte(0)
	if c.Ascending {
		flags = 1
	}
	b = binary.AppendUvarint(append(b, flags), uint64(c.Active))
	b = binary.AppendUvarint(b, uint64(c.TryRelease))
	return binary.AppendUvarint(b, uint64(c.Lease))
}

func appendTask(b []byte, t *semaphore.Task) []byte {
	flags := byte(t.Status) << taskStatus
	if t.Lease != 0 {
		flags |= taskLease
	}
	if t.Owner != 0 {
		flags |= taskOwner
	}
	b = appendStr(append(b, flags), t.ID)
	b = appendU64(b, math.Float64bits(t.Priority))
	b = binary.AppendUvarint(b, t.Seq)
	b = binary.AppendUvarint(b, uint64(t.Enqueued))
	if t.Lease != 0 {
		b = binary.AppendUvarint(b, uint64(t.Lease))
	}
	if t.Owner != 0 {
		b = appendU64(b, uint64(t.Owner))
	}
	return b
}

// appendHeader is what a checkpoint says of a semaphore before its tasks.
func appendHeader(b []byte, s *sem) []byte {
	b = appendConfig(appendIdentity(b, s), s.state.Config())
	deleted := byte(0)
	if s.deleted {
		deleted = 1
	}
	b = binary.AppendUvarint(append(b, deleted), s.events)
	return binary.AppendUvarint(b, s.state.NextSeq())
}

// header is one that was read.
type header struct {
	sem
	config  semaphore.Config
	nextSeq uint64
}

// source is where facts are read from: an entry, or a checkpoint.
type source interface {
	ReadByte() (byte, error)
	Read([]byte) (int, error)
}

// reader reads facts. The first failure sticks: what is read after it is zero.
type reader struct {
	source
	buf []byte
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) byte() byte {
	if r.err != nil {
		return 0
	}
	b, err := r.source.ReadByte()
	if err != nil {
		r.fail(fmt.Errorf("%w: %v", errFormat, err))
	}
	return b
}

func (r *reader) uvarint() uint64 {
	if r.err != nil {
		return 0
	}
	v, err := binary.ReadUvarint(r.source)
	if err != nil {
		r.fail(fmt.Errorf("%w: %v", errFormat, err))
		return 0
	}
	return v
}

// most reads a number that may not be larger than that.
func (r *reader) most(limit uint64) uint64 {
	v := r.uvarint()
	if v > limit {
		r.fail(fmt.Errorf("%w: %d is more than %d", errFormat, v, limit))
		return 0
	}
	return v
}

func (r *reader) bytes(n int) []byte {
	if cap(r.buf) < n {
		r.buf = make([]byte, n, 512)
	}
	b := r.buf[:n]
	if r.err != nil {
		return b
	}
	for at := 0; at < n; {
		k, err := r.source.Read(b[at:])
		at += k
		if err != nil && at < n {
			r.fail(fmt.Errorf("%w: %v", errFormat, err))
			clear(b)
			break
		}
	}
	return b
}

func (r *reader) str() string {
	n := int(r.most(255))
	if r.err != nil {
		return ""
	}
	return string(r.bytes(n))
}

func (r *reader) u64() uint64 { return binary.LittleEndian.Uint64(r.bytes(8)) }

func (r *reader) identity() sem {
	s := sem{id: r.uvarint(), vhost: broker.VHostID{Name: r.str(), Made: r.uvarint()}, key: r.str(), created: int64(r.most(math.MaxInt64))}
	if s.id == 0 || s.key == "" {
		r.fail(fmt.Errorf("%w: a semaphore without a name", errFormat))
	}
	return s
}

func (r *reader) config() semaphore.Config {
	flags := r.byte()
	return semaphore.Config{
		Ascending: flags&1 != 0, Active: int(r.most(math.MaxInt32)), TryRelease: int(r.most(math.MaxInt32)), Lease: int64(r.most(math.MaxInt64)),
	}
}

func (r *reader) task() semaphore.Task {
	flags := r.byte()
	t := semaphore.Task{
		Status: semaphore.Status(flags >> taskStatus), ID: r.str(), Priority: math.Float64frombits(r.u64()), Seq: r.uvarint(), Enqueued: int64(r.most(math.MaxInt64)),
	}
	if flags&taskLease != 0 {
		t.Lease = int64(r.most(math.MaxInt64))
	}
	if flags&taskOwner != 0 {
		t.Owner = int64(r.u64())
	}
	if t.Status > semaphore.TryRelease || t.ID == "" || t.Seq == 0 || t.Seq >= maxSeq || math.IsNaN(t.Priority) || math.IsInf(t.Priority, 0) {
		r.fail(fmt.Errorf("%w: a task that cannot be", errFormat))
	}
	return t
}

func (r *reader) header() header {
	h := header{sem: r.identity(), config: r.config()}
	h.deleted = r.byte() != 0
	h.events, h.nextSeq = r.uvarint(), r.most(maxSeq)
	return h
}

// version reads the first byte.
func (r *reader) version() error {
	if v := r.byte(); r.err == nil && v != formatVersion {
		r.fail(fmt.Errorf("%w: version %d of the semaphores", errUnsupported, v))
	}
	return r.err
}
