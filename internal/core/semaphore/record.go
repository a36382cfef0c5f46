package semaphore

import "math"

// record is a stored task. It has no pointers, so the garbage collector does not scan millions of
// waiting tasks.
type record struct {
	rank     uint64 // the priority as a sortable number, smaller is more urgent
	seqBits  uint64 // Seq << 3, whether id is the number of a text << 2, Status
	enqueued int64
	id       uint64 // the id if it is a number, otherwise its index in texts
	next     uint32 // next record of the index bucket, from 1; 0: none
	hold     uint32 // the task's hold, from 1; 0: none
}

const (
	statusBits = 3
	textBit    = 4
	seqShift   = 3
)

func (r *record) status() Status      { return Status(r.seqBits & statusBits) }
func (r *record) setStatus(st Status) { r.seqBits = r.seqBits&^statusBits | uint64(st) }
func (r *record) isText() bool        { return r.seqBits&textBit != 0 }
func (r *record) seq() uint64         { return r.seqBits >> seqShift }
func (r *record) place() place        { return place{r.rank, r.seq()} }

// place is the position of a task in the order. No two are equal.
type place struct{ rank, seq uint64 }

func (p place) before(q place) bool { return p.rank < q.rank || p.rank == q.rank && p.seq < q.seq }

const signBit = 1 << 63

// rankOf converts a priority to a rank.
func rankOf(priority float64, ascending bool) uint64 {
	b := math.Float64bits(priority + 0) // -0 becomes 0
	if b&signBit != 0 {
		b = ^b
	} else {
		b |= signBit
	}
	if !ascending {
		b = ^b
	}
	return b
}

// priorityOf converts a rank to a priority.
func priorityOf(rank uint64, ascending bool) float64 {
	if !ascending {
		rank = ^rank
	}
	if rank&signBit != 0 {
		return math.Float64frombits(rank &^ signBit)
	}
	return math.Float64frombits(^rank)
}
