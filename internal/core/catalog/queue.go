package catalog

import (
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
)

// Queue is the definition of a queue. Only Implicit ever changes. The engine embeds it in its own
// queue struct.
type Queue struct {
	ID              uint64 // never reused
	Name            string
	Durable         bool // never for exclusive queues, which end with their session
	DeclaredDurable bool // the flag that the client gave
	AutoDelete      bool
	Args            message.Table
	Declared        *QueuePolicy // as declared, never changed; policies may override it
	Buffer          *Buffer      // nil unless the queue belongs to an exchange
	In              *VHost
	Shard           uint32 // the shard that holds its messages
	Owner           any    // of an exclusive queue: Rights.Owner of the session that declared it
	Runtime         any    // the engine's own queue struct

	implicit atomic.Bool
}

// Implicit reports whether a command created the queue implicitly, so that it is deleted when no
// longer needed. Any goroutine may call it.
func (q *Queue) Implicit() bool { return q.implicit.Load() }

// Buffer is what an exchange buffer does for its exchange. Such a queue holds messages until they
// are due (x-delayed-message), to pass each only once (x-message-deduplication), or to send them to
// queues that are bound later (x-recent-history). It is created and deleted with its exchange, in
// one fact. Clients cannot reach it by its name, only through the exchange.
type Buffer struct {
	Exchange string
	Delays   bool // messages stay until they are due
	Keeps    bool // keeps copies of what the exchange routes; otherwise the exchange's bindings route the messages that leave
}

// bufferPrefix begins the names of buffers, which are only for display.
const bufferPrefix = "amq.relay."

func newBuffer(spec *routing.ExchangeSpec) *Buffer {
	return &Buffer{Exchange: spec.Name, Delays: spec.Type == routing.TypeDelayed, Keeps: spec.Type == routing.TypeHistory}
}

// bufferPolicy returns the policy of the buffer that the exchange needs, if it needs one.
func bufferPolicy(spec *routing.ExchangeSpec, asked *QueuePolicy) (p QueuePolicy, needed bool) {
	p = DefaultQueuePolicy()
	if asked.Deduplicate {
		p.Deduplicate, p.DedupHeader, p.DedupEntries, p.DedupTTL = true, asked.DedupHeader, asked.DedupEntries, asked.DedupTTL
	}
	if spec.Type == routing.TypeHistory {
		p.MaxLength, _ = routing.HistoryLength(spec.Args) // the declaration was checked
	}
	return p, p.Deduplicate || spec.Type == routing.TypeHistory || spec.Type == routing.TypeDelayed
}

// holds returns a predicate that reports whether the buffer holds a message with these headers,
// that is, one with a delay or a key. nil means that the buffer holds every message.
func (q *Queue) holds(delay func(headers []byte) int64) func(headers []byte) bool {
	if q.Buffer.Keeps {
		return nil
	}
	delays, deduplicates, key := q.Buffer.Delays, q.Declared.Deduplicate, q.Declared.DedupHeader
	return func(headers []byte) bool {
		if delays && delay(headers) > 0 {
			return true
		}
		if !deduplicates {
			return false
		}
		v, ok := message.HeaderLookup(headers, key)
		return ok && v != nil
	}
}

// equivalent compares a declaration with the existing queue, in the order in which RabbitMQ reports
// differences.
func (q *Queue) equivalent(spec *QueueSpec) error {
	differs := func(arg string, received, current any) error {
		return &failure.Error{
			Err: failure.ErrInequivalent, Kind: "queue", Name: q.Name, VHost: q.In.Name, Arg: arg, Received: received, Current: current,
		}
	}
	if spec.Exclusive != (q.Owner != nil) {
		return &failure.Error{Err: failure.ErrExclusive, Kind: "queue", Name: q.Name, VHost: q.In.Name}
	}
	if spec.Durable != q.DeclaredDurable {
		return differs("durable", spec.Durable, q.DeclaredDurable)
	}
	if spec.AutoDelete != q.AutoDelete {
		return differs("auto_delete", spec.AutoDelete, q.AutoDelete)
	}
	compared := spec.Compared
	if q.Declared.Stream { // a declaration without a type asks for a classic queue
		compared = append([]string{"x-queue-type"}, compared...)
	}
	if arg, received, current, ok := firstDifference(spec.Args, q.Args, compared); !ok {
		return differs(arg, received, current)
	}
	return nil
}
