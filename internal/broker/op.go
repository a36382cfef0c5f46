package broker

import (
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

type opKind uint8

const (
	opPublish       opKind = iota
	opPublishFront         // before all other messages of the queue; Context.PublishFront knows whether there is such a place
	opServerPublish        // opPublish of the server itself, which may fail
	opAck
	opRequeue // by a consumer
	opReturn  // not by a consumer: that is gone, or its time was over
	opReject
	opTx      // a transaction's part for this shard
	opKick    // a session's window opened: look at its queues again
	opGrant   // a shared limit has left n deliveries to a share
	opSettle  // a message that was handed over is safe elsewhere: its source may go
	opCall    // run a function on the shard's goroutine
	opRun     // a command that waits for nothing
	opRelease // the end of a loan
	opTrip    // the commands of a session
	opGroup   // a commandGroup
)

// op is one thing for a shard to do. It is one flat struct, copied in slices, so that the hot path
// allocates nothing per message.
type op struct {
	kind       opKind
	persistent bool
	must       bool // opPublish in a transaction: its queues must be there
	priority   uint8
	flags      queue.Flags  // opPublish: Redelivered, for a message that may have been delivered before a crash
	n          uint32       // opAck, opRequeue, opReturn, opReject: contiguous handles; opGrant
	handle     queue.Handle // as n, and opSettle

	queue    *Queue   // the first target, or the queue of handle
	more     []*Queue // further targets on this shard
	consumer *Consumer
	env      message.Envelope
	ttl      int64 // ms, -1 none
	due      int64 // unix ms, 0 now; opRequeue: 0 is what the queue says
	deadline int64 // unix ms from which it is not delivered, 0 none; the earlier of it and ttl counts

	order *Order // opPublish: nil, or the place that the sender gave it

	confirm Confirmer // nil: no confirm is asked for
	seq     uint64

	// extra is for opPublish nil, the message whose source to settle in the same entry (forwarded),
	// or the *Loan that it takes the place of; for opSettle: forwarded; opTx: *txPart; opKick:
	// *Session; opGrant: *dispatch.Share; opCall: func(); opRun: *lone; opTrip: *trip;
	// opGroup: *commandGroup.
	extra any
}
