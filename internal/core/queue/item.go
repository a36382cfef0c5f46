package queue

import (
	"unsafe"

	"fiveways.dev/fiveways/internal/core/message"
)

// seqBits is the width of the sequence number in a Handle; the priority is in the bits above.
const seqBits = 56

const seqMask = 1<<seqBits - 1

// Handle is the position of a message in one queue: priority<<56 | seq. Sequence numbers start at 1
// and grow per priority, so consecutive messages of one priority have consecutive handles. Zero is
// no handle.
type Handle uint64

// MakeHandle combines a priority and a sequence number.
func MakeHandle(priority uint8, seq uint64) Handle {
	return Handle(uint64(priority)<<seqBits | seq&seqMask)
}

// Priority returns the priority level of the message; higher levels are delivered first.
func (h Handle) Priority() uint8 { return uint8(h >> seqBits) }

// Seq returns the position within the level.
func (h Handle) Seq() uint64 { return uint64(h) & seqMask }

// Flags are the boolean properties of an Item.
type Flags uint8

const (
	// Persistent: the message is in the shard's log at (Index, Sub) and is included in snapshots. A
	// message that its publisher marked persistent is not Persistent here if its queue is
	// transient.
	Persistent Flags = 1 << iota
	// Scratch: (Index, Sub) is a position in the scratch log, which is wiped at start.
	Scratch
	// Redelivered: the message was delivered before.
	Redelivered
)

// Item is one message of the queue. Pointers to items that State returns are valid until the next
// call of any of its methods. Their fields must not be changed.
type Item struct {
	Handle  Handle
	Index   uint64           // log index of the entry that holds the body
	Expires int64            // unix ms from which it has expired, 0: never
	Due     int64            // unix ms before which it is not delivered, 0: now
	Env     message.Envelope // nil if the body is only on disk
	Sub     uint32           // number of the fact within the entry
	Size    uint32           // body bytes
	Count   uint32           // number of returns
	Flags   Flags
}

const itemBytes = int64(unsafe.Sizeof(Item{}))

// Status is the state of a message.
type Status uint8

const (
	// Gone: settled, or never in the queue.
	Gone Status = iota
	// Ready: waiting for a consumer.
	Ready
	// Unacked: delivered, not yet settled or returned.
	Unacked
	// Scheduled: waiting for its Due time.
	Scheduled
	// Parked: ready, but no current consumer may get it, so Next skips it. The caller that parks a
	// message records what it waits for.
	Parked
	// Blocked: waiting until other messages are gone. The caller that blocks a message records
	// which.
	Blocked

	statuses = iota
)

func (s Status) String() string {
	return [...]string{"gone", "ready", "unacked", "scheduled", "parked", "blocked"}[s]
}
