package catalog

// Overflow decides what happens when a queue is at its length limit.
type Overflow uint8

// These numbers are in the log; never renumber.
const (
	DropHead         Overflow = 0 // the oldest ready message is dropped
	RejectPublish    Overflow = 1 // the new message is refused: its publisher gets a nack
	RejectPublishDLX Overflow = 2 // like RejectPublish, and the refused message is dead-lettered
)

// RetryType decides which returned messages wait before they are ready again.
type RetryType uint8

// These numbers are in the log; never renumber.
const (
	RetryDisabled RetryType = 0 // none waits
	RetryAll      RetryType = 1 // all wait
	RetryFailed   RetryType = 2 // those that a consumer refused (basic.reject)
	RetryReturned RetryType = 3 // those that came back without a consumer's decision
)

// SyncChoice decides when a promise about a queue's messages counts as kept.
type SyncChoice uint8

// These numbers are in the log; never renumber.
const (
	SyncDefault SyncChoice = 0 // as the broker is configured
	SyncAlways  SyncChoice = 1 // on disk
	SyncBatch   SyncChoice = 2 // on disk, after a short wait so that others share the sync
	SyncOS      SyncChoice = 3 // written, not synced
)

// QueuePolicy is how a queue treats its messages, in the engine's terms. Durations are
// milliseconds; -1 means unset.
type QueuePolicy struct {
	MessageTTL     int64 // a message's longest stay
	Expires        int64 // the queue is deleted when unused for this long
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
	AtLeastOnce        bool // a dead message stays until every queue it is routed to has accepted it

	SingleActive    bool      // one consumer gets all messages, the others wait to take over
	ActiveByRank    bool      // and a consumer of higher priority takes over
	ConsumerTimeout int64     // an unsettled delivery returns to the queue after it
	DeliveryLimit   int64     // returns after which a message dies
	CountDeliveries bool      // deliveries say how often their message was returned
	RetryType       RetryType // which returned messages wait:
	RetryMin        int64     // after the first return this long, and this much longer after each further one,
	RetryMax        int64     // but never longer than this

	GroupHeader  string // messages with one value of this header go to one consumer at a time; "" is off
	ConsumeAfter bool   // messages may wait for other messages
	Unawaited    bool   // and no message waits for those of this queue

	Deduplicate  bool   // a message whose key is remembered is dropped
	DedupHeader  string // header that holds the key
	DedupEntries int64  // keys remembered at most
	DedupTTL     int64  // how long each is remembered

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

var defaultPolicy = DefaultQueuePolicy()

// kept returns p to be kept with a queue: a copy, or the one that all queues without settings
// share.
func (p *QueuePolicy) kept() *QueuePolicy {
	if *p == defaultPolicy {
		return &defaultPolicy
	}
	own := *p
	return &own
}

// Limited reports whether the length of the queue is bounded. A stream's is not: what it keeps does
// not limit publishers, and what it drops is not dead.
func (p *QueuePolicy) Limited() bool { return !p.Stream && (p.MaxLength >= 0 || p.MaxLengthBytes >= 0) }

// Known reports whether the order indexes the messages of the queue by their ids.
func (p *QueuePolicy) Known() bool { return p.ConsumeAfter && !p.Unawaited }

// keepStructure restores what no policy can change, because the queue's state is built on it.
func (p *QueuePolicy) keepStructure(declared *QueuePolicy) {
	p.MaxPriority, p.Stream = declared.MaxPriority, declared.Stream
	p.SingleActive, p.ActiveByRank = declared.SingleActive, declared.ActiveByRank
	p.GroupHeader, p.ConsumeAfter, p.Unawaited = declared.GroupHeader, declared.ConsumeAfter, declared.Unawaited
	p.Deduplicate, p.DedupHeader = declared.Deduplicate, declared.DedupHeader
	p.DedupEntries, p.DedupTTL = declared.DedupEntries, declared.DedupTTL
}

// Insists reports whether a dead message stays in the queue until all queues it is routed to have
// accepted it. A queue that drops its head to stay within its length cannot insist: what it drops
// would stay.
func (p *QueuePolicy) Insists() bool {
	return p.AtLeastOnce && p.DeadLetter && !(p.Overflow == DropHead && p.Limited())
}

// defaultRetryMin is the first wait of a returned message where the queue names none,
// ms.
const defaultRetryMin = 1000

// maxRetry bounds a wait, ms: the sum with the clock stays in range.
const maxRetry = 1 << 52

// RetryAt returns when a message that was returned for the count-th time is ready again, unix ms;
// 0: at once. refused means that a consumer returned it.
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
