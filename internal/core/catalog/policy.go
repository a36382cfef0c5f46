package catalog

// Overflow is what happens when a queue is at its length limit.
type Overflow uint8

// These numbers are in the log; never renumber.
const (
	DropHead         Overflow = 0 // drop the oldest ready message
	RejectPublish    Overflow = 1 // refuse the new message: its publisher gets a nack
	RejectPublishDLX Overflow = 2 // like RejectPublish, and dead-letter the refused message
)

// RetryType is which returned messages wait before they are ready again.
type RetryType uint8

// These numbers are in the log; never renumber.
const (
	RetryDisabled RetryType = 0 // none
	RetryAll      RetryType = 1 // all
	RetryFailed   RetryType = 2 // those that a consumer refused (basic.reject)
	RetryReturned RetryType = 3 // those that were returned without a consumer's decision
)

// SyncChoice is when a promise about a queue's messages counts as kept.
type SyncChoice uint8

// These numbers are in the log; never renumber.
const (
	SyncDefault SyncChoice = 0 // the broker's setting
	SyncAlways  SyncChoice = 1 // on disk
	SyncBatch   SyncChoice = 2 // on disk, after a short wait to share the sync
	SyncOS      SyncChoice = 3 // written, not synced
)

// QueuePolicy is how a queue treats its messages, in the engine's terms. Durations are
// milliseconds; -1 means unset.
type QueuePolicy struct {
	MessageTTL     int64 // how long a message may stay
	Expires        int64 // the queue is deleted after being unused this long
	MaxLength      int64 // ready messages
	MaxLengthBytes int64 // body bytes of ready messages
	Overflow       Overflow
	MaxPriority    uint8 // 0: no priorities

	// Stream makes the queue keep its messages for readers, each with its own position; MaxAge is
	// how long (0: no limit), and MaxLengthBytes how much. Facts omit zero values.
	Stream bool  `json:",omitempty"`
	MaxAge int64 `json:",omitempty"`

	DeadLetter         bool // dead messages go to DeadLetterExchange ("" is the default exchange)
	DeadLetterExchange string
	HasDeadLetterKey   bool // otherwise a dead message keeps its routing key
	DeadLetterKey      string
	AtLeastOnce        bool // a dead message stays until every target queue has accepted it

	SingleActive    bool      // only one consumer gets messages, the others wait to take over
	ActiveByRank    bool      // a consumer of higher priority takes over
	ConsumerTimeout int64     // an unsettled delivery returns to the queue after this time
	DeliveryLimit   int64     // a message dies after this many returns
	CountDeliveries bool      // deliveries have the number of earlier returns of the message
	RetryType       RetryType // which returned messages wait
	RetryMin        int64     // wait after the first return, and increment for each further one
	RetryMax        int64     // longest wait

	GroupHeader  string // messages with the same value of this header go to one consumer at a time; "": off
	ConsumeAfter bool   // messages may wait for other messages
	Unawaited    bool   // no message waits for messages of this queue

	Deduplicate  bool   // drop messages whose key is remembered
	DedupHeader  string // header that holds the key
	DedupEntries int64  // number of keys remembered
	DedupTTL     int64  // how long each key is remembered

	Sync SyncChoice
}

// DefaultQueuePolicy returns a policy in which nothing is set.
func DefaultQueuePolicy() QueuePolicy {
	return QueuePolicy{
		MessageTTL: -1, Expires: -1, MaxLength: -1, MaxLengthBytes: -1,
		ConsumerTimeout: -1, DeliveryLimit: -1, RetryMin: -1, RetryMax: -1,
		DedupHeader: "x-deduplication-header", DedupEntries: 100_000, DedupTTL: -1,
	}
}

var defaultPolicy = DefaultQueuePolicy()

// kept returns a copy of p to store with a queue, or the policy that all queues without settings
// share.
func (p *QueuePolicy) kept() *QueuePolicy {
	if *p == defaultPolicy {
		return &defaultPolicy
	}
	own := *p
	return &own
}

// Limited reports whether the length of the queue is bounded. A stream's length is not: what it
// keeps does not limit publishers, and what it drops is not dead-lettered.
func (p *QueuePolicy) Limited() bool { return !p.Stream && (p.MaxLength >= 0 || p.MaxLengthBytes >= 0) }

// Known reports whether the messages of the queue are indexed by id for the order of consume_after.
func (p *QueuePolicy) Known() bool { return p.ConsumeAfter && !p.Unawaited }

// keepStructure restores the settings that policies cannot change, because the queue's state
// depends on them.
func (p *QueuePolicy) keepStructure(declared *QueuePolicy) {
	p.MaxPriority, p.Stream = declared.MaxPriority, declared.Stream
	p.SingleActive, p.ActiveByRank = declared.SingleActive, declared.ActiveByRank
	p.GroupHeader, p.ConsumeAfter, p.Unawaited = declared.GroupHeader, declared.ConsumeAfter, declared.Unawaited
	p.Deduplicate, p.DedupHeader = declared.Deduplicate, declared.DedupHeader
	p.DedupEntries, p.DedupTTL = declared.DedupEntries, declared.DedupTTL
}

// Insists reports whether a dead message stays in the queue until all target queues have accepted
// it. A queue that drops its head to stay within its length cannot keep what it drops.
func (p *QueuePolicy) Insists() bool {
	return p.AtLeastOnce && p.DeadLetter && !(p.Overflow == DropHead && p.Limited())
}

// defaultRetryMin is the first wait of a returned message in ms if the queue sets none.
const defaultRetryMin = 1000

// maxRetry bounds a wait in ms, so that adding it to a time cannot overflow.
const maxRetry = 1 << 52

// RetryAt returns when a message that was returned for the count-th time is ready again, in unix
// ms; 0 means at once. refused means that a consumer refused it.
func (p *QueuePolicy) RetryAt(now, count int64, refused bool) int64 {
	switch p.RetryType {
	case RetryDisabled:
		return 0
	case RetryFailed:
		if !refused {
			return 0
		}
	case RetryReturned:
		if refused {
			return 0
		}
	}
	step, most := p.RetryMin, p.RetryMax
	if step < 0 {
		step = defaultRetryMin
	}
	if most < 0 {
		most = maxRetry
	}
	if step == 0 || most == 0 {
		return 0
	}
	if count > most/step {
		return now + most
	}
	return now + step*count
}

// ExceededBy reports whether a queue with this many ready messages, of this many bytes, exceeds its
// limit.
func (p *QueuePolicy) ExceededBy(ready int, bytes int64) bool {
	return p.Limited() && (p.MaxLength >= 0 && int64(ready) > p.MaxLength || p.MaxLengthBytes >= 0 && bytes > p.MaxLengthBytes)
}
