package broker

import (
	"fiveways/internal/core/message"
	"fiveways/internal/core/selector"
	"fiveways/internal/storage/store"
)

// Overflow says what happens when a queue is at its length limit.
type Overflow uint8

// These numbers are in the log; never renumber.
const (
	DropHead         Overflow = 0 // the oldest ready message goes
	RejectPublish    Overflow = 1 // the new message is refused: its publisher gets a nack
	RejectPublishDLX Overflow = 2 // as RejectPublish, and the refused message is dead-lettered
)

// RetryType says which returned messages wait before they are ready again.
type RetryType uint8

// These numbers are in the log; never renumber.
const (
	RetryDisabled RetryType = 0 // none waits
	RetryAll      RetryType = 1 // all wait
	RetryFailed   RetryType = 2 // those that a consumer refused (basic.reject)
	RetryReturned RetryType = 3 // those that came back without a verdict
)

// SyncChoice says when a promise about a queue's messages counts as kept.
type SyncChoice uint8

// These numbers are in the log; never renumber.
const (
	SyncDefault SyncChoice = 0 // as the broker is configured
	SyncAlways  SyncChoice = 1 // on disk
	SyncBatch   SyncChoice = 2 // on disk, with a wait for company
	SyncOS      SyncChoice = 3 // written, not synced
)

// wait is what a publisher confirm waits for in a broker with this mode.
func (s SyncChoice) wait(mode store.SyncMode) store.Wait {
	switch s {
	case SyncAlways:
		mode = store.SyncAlways
	case SyncBatch:
		mode = store.SyncBatch
	case SyncOS:
		mode = store.SyncOS
	}
	return mode.Wait()
}

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
	AtLeastOnce        bool // a dead message stays until every queue it is routed to has taken it

	SingleActive    bool      // one consumer gets messages, the others wait for its place
	ActiveByRank    bool      // and one of higher priority takes it
	ConsumerTimeout int64     // an unsettled delivery comes back after it
	DeliveryLimit   int64     // returns after which a message dies
	CountDeliveries bool      // consumers are told how often a message came back
	RetryType       RetryType // which returned messages wait,
	RetryMin        int64     // for the first time so long, and so much longer each time,
	RetryMax        int64     // but never longer than this

	GroupHeader  string // messages with one value of this header go to one consumer at a time; "" is off
	ConsumeAfter bool   // messages may wait for others to be gone
	Unawaited    bool   // and none waits for those of this queue

	Deduplicate  bool   // a message whose key is remembered is dropped
	DedupHeader  string // header that holds the key
	DedupEntries int64  // keys remembered at most
	DedupTTL     int64  // how long each is

	Sync SyncChoice
}

// DefaultQueuePolicy has nothing set.
func DefaultQueuePolicy() QueuePolicy {
	return QueuePolicy{
		MessageTTL: -1, Expires: -1, MaxLength: -1, MaxLengthBytes: -1,
		ConsumerTimeout: -1, DeliveryLimit: -1, RetryMin: -1, RetryMax: -1,
		DedupHeader: "x-deduplication-header", DedupEntries: 100_000, DedupTTL: -1,
	}
}

// limited tells whether the length of the queue is bounded.
func (p *QueuePolicy) limited() bool { return p.MaxLength >= 0 || p.MaxLengthBytes >= 0 }

// known reports whether the order knows the messages of the queue by their ids.
func (p *QueuePolicy) known() bool { return p.ConsumeAfter && !p.Unawaited }

// QueueSpec declares a queue. Args are kept as the client gave them: they are
// compared at a second declaration and shown back; Policy is what they mean.
type QueueSpec struct {
	Name       string
	Passive    bool // only ask
	Durable    bool
	Exclusive  bool // belongs to the session and goes with it
	AutoDelete bool // goes when its last consumer leaves
	Implicit   bool // durable, and nobody asked for it by itself: it goes when nobody needs it any more
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
	Relay      QueuePolicy // its de-duplication is that of the exchange
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
	Prefetch  int                // most unsettled deliveries at a time, 0 = no limit
	Priority  int                // higher ones are served first
	Selector  *selector.Selector // only messages that match, nil = all
	Limit     *Limit             // a further limit shared by several consumers, or nil
	Data      any                // the protocol's own
	Channel   int                // of the connection, for people; 0: the protocol has none
	Args      message.Table      // as the client gave them, for people
	Started   func()             // runs before the first delivery, on the shard's goroutine
}
