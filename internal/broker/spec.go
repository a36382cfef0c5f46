package broker

import (
	"fiveways/internal/core/message"
)

// Overflow says what happens when a queue is at its length limit.
type Overflow uint8

// These numbers are in the log; never renumber.
const (
	DropHead         Overflow = 0 // the oldest ready message goes
	RejectPublish    Overflow = 1 // the new message is refused: its publisher gets a nack
	RejectPublishDLX Overflow = 2 // as RejectPublish, and the refused message is dead-lettered
)

// QueuePolicy is what a queue does with its messages, in the engine's terms.
// Durations are milliseconds; -1 means unset.
type QueuePolicy struct {
	MessageTTL     int64 // a message's longest stay
	Expires        int64 // the queue goes when unused for so long
	MaxLength      int64 // ready messages
	MaxLengthBytes int64 // body bytes of ready messages
	Overflow       Overflow
	MaxPriority    uint8 // 0: no priorities

	DeadLetter         bool // dead messages go to DeadLetterExchange ("" is the default exchange)
	DeadLetterExchange string
	HasDeadLetterKey   bool // else a dead message keeps its routing key
	DeadLetterKey      string
}

// DefaultQueuePolicy has nothing set.
func DefaultQueuePolicy() QueuePolicy {
	return QueuePolicy{MessageTTL: -1, Expires: -1, MaxLength: -1, MaxLengthBytes: -1}
}

// limited tells whether the length of the queue is bounded.
func (p *QueuePolicy) limited() bool { return p.MaxLength >= 0 || p.MaxLengthBytes >= 0 }

// QueueSpec declares a queue. Args are kept as the client gave them: they are
// compared at a second declaration and shown back; Policy is what they mean.
type QueueSpec struct {
	Name       string
	Passive    bool // only ask
	Durable    bool
	Exclusive  bool // belongs to the session and goes with it
	AutoDelete bool // goes when its last consumer leaves
	Args       message.Table
	Compared   []string // names of the arguments that a second declaration must repeat
	Policy     QueuePolicy
}

// QueueInfo answers a declaration.
type QueueInfo struct {
	Name      string
	Ready     int
	Consumers int
}

// ExchangeSpec declares an exchange.
type ExchangeSpec struct {
	Name       string
	Type       string
	Passive    bool
	Durable    bool
	AutoDelete bool   // goes when its last binding goes
	Internal   bool   // fed by bindings only
	Alternate  string // takes what no binding matched
	Args       message.Table
}

// BindSpec names a binding: from an exchange to a queue or to an exchange.
type BindSpec struct {
	Source      string
	Destination string
	ToExchange  bool
	Key         string
	Args        message.Table
}

// ConsumerSpec registers a consumer.
type ConsumerSpec struct {
	Queue     string
	Tag       string
	NoAck     bool
	Exclusive bool
	Prefetch  int    // most unsettled deliveries at a time, 0 = no limit
	Priority  int    // higher ones are served first
	Limit     *Limit // a further limit shared by several consumers, or nil
	Data      any    // the protocol's own
	Started   func() // runs before the first delivery, on the shard's goroutine
}
