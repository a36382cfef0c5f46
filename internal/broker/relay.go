package broker

import (
	"strings"

	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/routing"
)

// A relay is a queue that belongs to an exchange which holds messages: until
// their time has come (x-delayed-message), to pass each once
// (x-message-deduplication), or to show them to queues that are bound later
// (x-recent-history). It comes and goes with its exchange, in one entry of the
// definitions. Clients do not reach it by its name; routing leads to it.
type relay struct {
	exchange string
	delays   bool // messages stay until their time
	keeps    bool // it remembers what the exchange also routes; else what leaves it is routed by the exchange's bindings
}

// relayPrefix begins the names of relays, which are for people to see.
const relayPrefix = "amq.relay."

// noQueue is the failure of a name that routing does not have.
func (s *Session) noQueue(name string) error {
	if exchange, ok := strings.CutPrefix(name, relayPrefix); ok {
		if x, ok := s.vhost.table.Load().Exchange(exchange); ok && x.Relay().Queue != 0 {
			return s.fail(ErrAccessRefused, "queue", name)
		}
	}
	return s.fail(ErrQueueNotFound, "queue", name)
}

// relayPolicy tells whether the exchange needs a relay, and which.
func relayPolicy(spec *routing.ExchangeSpec, asked *QueuePolicy) (p QueuePolicy, needed bool) {
	p = DefaultQueuePolicy()
	if asked.Deduplicate {
		p.Deduplicate, p.DedupHeader, p.DedupEntries, p.DedupTTL = true, asked.DedupHeader, asked.DedupEntries, asked.DedupTTL
	}
	if spec.Type == routing.TypeHistory {
		p.MaxLength, _ = routing.HistoryLength(spec.Args) // the declaration was checked
	}
	return p, p.Deduplicate || spec.Type == routing.TypeHistory || spec.Type == routing.TypeDelayed
}

// newRelay builds the relay of an exchange. The caller holds mu.
func (c *catalog) newRelay(v *VHost, spec *routing.ExchangeSpec, p QueuePolicy) *Queue {
	q := &Queue{
		ID: c.nextQueue, Name: relayPrefix + spec.Name, Durable: spec.Durable, declared: spec.Durable, Declared: p,
		vhost: v, shard: c.shardFor(), state: &queue.State{},
	}
	q.relay = relayOf(spec)
	c.nextQueue++
	return q
}

func relayOf(spec *routing.ExchangeSpec) *relay {
	return &relay{exchange: spec.Name, delays: spec.Type == routing.TypeDelayed, keeps: spec.Type == routing.TypeHistory}
}

// restoreRelay is newRelay and addRelay for a fact.
func (c *catalog) restoreRelay(t *routing.Table, v *VHost, f *exchangeFact) (*routing.Table, error) {
	q := c.newQueue(v, f.Relay)
	spec := f.spec()
	q.relay = relayOf(&spec)
	c.nextQueue = max(c.nextQueue, q.ID+1)
	return c.addRelay(t, q)
}

// addRelay makes the queue known and returns the table in which it is the
// exchange's relay.
func (c *catalog) addRelay(t *routing.Table, q *Queue) (*routing.Table, error) {
	c.keep(q)
	return t.SetRelay(q.relay.exchange, routing.Relay{Queue: routing.QueueID(q.ID), Copy: q.relay.keeps, Holds: q.holds()})
}

// holds tells which messages have business in a relay, by their headers: those with a delay, and those with a key.
func (q *Queue) holds() func(headers []byte) bool {
	if q.relay.keeps {
		return nil
	}
	delays, deduplicates, name := q.relay.delays, q.Policy().Deduplicate, q.Policy().DedupHeader
	return func(headers []byte) bool {
		if delays && readDelay(headers) > 0 {
			return true
		}
		if !deduplicates {
			return false
		}
		v, ok := message.HeaderLookup(headers, name)
		return ok && v != nil
	}
}

// relayQueue returns the relay of the exchange, nil when it has none.
func (c *catalog) relayQueue(x *routing.Exchange) *Queue {
	id := x.Relay().Queue
	if id == 0 {
		return nil
	}
	q, _ := c.b.queueByID(uint64(id))
	return q
}

// forgetRelay takes the relay of a deleted exchange out of the definitions.
func (c *catalog) forgetRelay(x *routing.Exchange) *Queue {
	q := c.relayQueue(x)
	if q != nil {
		c.forget(q.ID)
	}
	return q
}

// dropRelay ends the relay of a deleted exchange with all it holds: when the
// deletion, which the caller records next, is durable. After a crash before
// that the exchange is there again, with its messages.
func (c *catalog) dropRelay(x *routing.Exchange) {
	switch q := c.forgetRelay(x); {
	case q == nil:
	case q.Durable:
		c.dropped = append(c.dropped, q)
	default:
		q.drop()
	}
}

// drop ends a queue that is out of the definitions for good.
func (q *Queue) drop() {
	sh := q.shard
	sh.post(func() {
		_, bodies, _ := sh.drop(q, dropWhen{}) // without a condition it cannot fail
		sh.b.store.ReleaseRuns(sh.id, bodies)
	})
}

// routeOut finds where a message goes from an exchange, as past says; ok is
// false when there is no such exchange. It is for messages that come out of the
// engine.
func (v *VHost) routeOut(exchange string, m *leaving, past routing.Past) (t Targets, ok bool) {
	table := v.table.Load()
	x, ok := table.Exchange(exchange)
	if !ok {
		return t, false
	}
	var r routing.Route
	rm := m.ask()
	rm.Past = past
	table.RouteFrom(x, &rm, &r)
	return v.resolve(r.Queues), true
}
