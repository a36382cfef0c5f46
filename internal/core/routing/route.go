package routing

import (
	"strings"
	"unsafe"

	"fiveways.dev/fiveways/internal/core/message"
)

// Message has the parts of a message that routing uses. Slices may alias a read buffer; Route does
// not retain them. Keep one per session and reuse it, because it escapes to the heap.
type Message struct {
	Key           []byte
	Also          [][]byte // further routing keys (AMQP's CC and BCC headers), for direct, topic and default exchanges
	Headers       []byte   // encoded field table without its length, nil if unset; decoded only if needed
	MessageID     []byte
	CorrelationID []byte
	Timestamp     uint64 // seconds since 1970
	Props         []byte // the whole property list; only conditions use it
	Body          []byte // like Props
	Memo          any    // what a condition has computed about the message, for later conditions
	Past          Past
	Apart         bool // do not follow bindings that copy: Route.Copies has their destinations

	exchange string // the exchange it was published to, set by RouteFrom
}

// Route is the result of routing one message, with scratch space. Keep one per session and reuse
// it.
type Route struct {
	// Queues are the queues that get the message, each once. They must not be changed, because they
	// may be part of a table, and are valid until the next call with this Route.
	Queues []QueueID
	// ByKey reports that only the routing key was decisive: this table routes any message with this
	// key to the same queues.
	ByKey bool
	// Copies are the destinations of bindings that copy, if the message is Apart. A destination
	// occurs once for each of its bindings. They are valid as long as Queues.
	Copies []Destination

	apart    bool // the current binding copies, and the message is Apart
	table    *Table
	owned    bool // Queues is queues.list, not part of a table
	queues   seen[QueueID]
	visited  seen[*Exchange] // in visiting order; grows during the walk
	matched  bool            // the current exchange had a match
	fields   []field         // the message's headers in comparable form
	decoded  bool            // fields is valid
	topic    topicScratch
	property [8]byte // a timestamp as bytes to hash
}

// Route finds the queues for a message published to an exchange. It returns ErrNoExchange if the
// exchange does not exist. It follows bindings between exchanges, visiting each exchange once, and
// the alternate exchanges of those without a match.
func (t *Table) Route(exchange string, m *Message, r *Route) error {
	x, ok := t.exchanges.Get(exchange)
	if !ok {
		r.Queues = nil
		return &Error{Kind: ErrNoExchange, Exchange: strings.Clone(exchange)} // the argument may be a view of a buffer
	}
	t.RouteFrom(x, m, r)
	return nil
}

// RouteFrom is Route for callers that have already looked up the exchange in this table.
func (t *Table) RouteFrom(x *Exchange, m *Message, r *Route) {
	r.table, r.Queues, r.owned, r.decoded, r.ByKey = t, nil, false, false, true
	r.Copies, r.apart = r.Copies[:0], false
	r.visited.reset()
	r.visited.add(x)
	m.exchange = x.Spec.Name
	for i := 0; i < len(r.visited.list); i++ {
		x := r.visited.list[i]
		r.matched = false
		r.ByKey = r.ByKey && byKeyOnly(x.Spec.Type)
		if x.buffer.Queue != 0 && r.atBuffer(x, m, i == 0) {
			continue
		}
		x.matcher.match(m, r)
		if x.selected != nil {
			r.ByKey = false
			x.matchSelected(m, r)
		}
		if !r.matched && x.alternate != "" {
			r.visit(x.alternate)
		}
	}
	r.visited.reset() // an idle session must not hold old tables
	r.table = nil
}

// byKeyOnly reports whether an exchange of the type looks only at the routing key.
func byKeyOnly(exchangeType string) bool {
	return exchangeType == TypeDirect || exchangeType == TypeFanout || exchangeType == TypeTopic || exchangeType == TypeHistory
}

func (r *Route) visit(exchange string) {
	if x, ok := r.table.exchanges.Get(exchange); ok {
		r.visited.add(x)
	}
}

// take adds a set of destinations to the result.
func (r *Route) take(d *destinations) {
	r.matched = true
	if r.apart {
		for _, name := range d.exchanges.items {
			r.Copies = append(r.Copies, Destination{Exchange: name})
		}
		for _, id := range d.queues.items {
			r.Copies = append(r.Copies, Destination{Queue: id})
		}
		return
	}
	for _, name := range d.exchanges.items {
		r.visit(name)
	}
	ids := d.queues.items
	switch {
	case len(ids) == 0:
	case len(r.Queues) == 0:
		r.Queues, r.owned = ids[:len(ids):len(ids)], false // a set has no duplicates, so a large fanout needs no copy
	default:
		for _, id := range ids {
			r.addQueue(id)
		}
	}
}

func (r *Route) addQueue(id QueueID) {
	r.matched = true
	if !r.owned {
		r.owned = true
		r.queues.reset()
		for _, old := range r.Queues {
			r.queues.add(old)
		}
	}
	r.queues.add(id)
	r.Queues = r.queues.list
}

func (r *Route) takeOne(d Destination) {
	r.matched = true
	if r.apart {
		r.Copies = append(r.Copies, d)
		return
	}
	if d.Exchange != "" {
		r.visit(d.Exchange)
	} else {
		r.addQueue(d.Queue)
	}
}

// headers returns the message's headers, decoded once per message. An invalid table counts as
// empty.
func (r *Route) headers(m *Message) []field {
	if !r.decoded {
		r.decoded = true
		r.fields = r.fields[:0]
		table, err := message.DecodeTable(m.Headers)
		if err != nil {
			return nil
		}
		for _, f := range table {
			r.fields = append(r.fields, field{f.Name, plain(f.Value)})
		}
	}
	return r.fields
}

// view returns b as a string without copying, for lookups that do not retain it.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
