package routing

import (
	"iter"

	"github.com/tidwall/btree"
)

// degree is the degree of the B-trees. A change copies one node on each level, so smaller nodes
// make changes cheaper and lookups a little deeper.
const degree = 32

// Table is an immutable snapshot of the exchanges, bindings and queue names of one vhost. See the
// package comment.
type Table struct {
	exchanges *btree.Map[string, *Exchange]
	queues    *btree.Map[string, QueueID]  // for the default exchange
	bySource  *btree.Map[string, *Binding] // by Binding.sourceKey
	byDest    *btree.Map[string, *Binding] // by Binding.destKey

	conditions Conditions // allowed in bindings
	private    bool       // changes are made in place
}

// Tap is the internal exchange that gets reports of the messages of a vhost.
const Tap = "amq.rabbitmq.trace"

// NewWith returns a table with the exchanges of every vhost: the default exchange "", amq.direct,
// amq.fanout, amq.topic, amq.headers, amq.match and Tap. Its bindings may have these conditions in
// addition to selectors.
func NewWith(conditions Conditions) *Table {
	t := &Table{
		conditions: conditions,

		exchanges: btree.NewMap[string, *Exchange](degree),
		queues:    btree.NewMap[string, QueueID](degree),
		bySource:  btree.NewMap[string, *Binding](degree),
		byDest:    btree.NewMap[string, *Binding](degree),
	}
	t.exchanges.Set("", &Exchange{Spec: ExchangeSpec{Type: TypeDirect, Durable: true}, matcher: byQueueName{}, traffic: &Traffic{}})
	for _, spec := range []ExchangeSpec{
		{Name: "amq.direct", Type: TypeDirect, Durable: true},
		{Name: "amq.fanout", Type: TypeFanout, Durable: true},
		{Name: "amq.topic", Type: TypeTopic, Durable: true},
		{Name: "amq.headers", Type: TypeHeaders, Durable: true},
		{Name: "amq.match", Type: TypeHeaders, Durable: true},
		{Name: Tap, Type: TypeTopic, Durable: true, Internal: true},
	} {
		matcher, _ := newMatcher(&spec) // cannot fail: these types need no arguments
		t.exchanges.Set(spec.Name, &Exchange{Spec: spec, matcher: matcher, traffic: &Traffic{}})
	}
	return t
}

// edit returns a table that may be changed in place until it is published: a copy, unless t is
// private.
func (t *Table) edit() *Table {
	if t.private {
		return t
	}
	return &Table{t.exchanges.Copy(), t.queues.Copy(), t.bySource.Copy(), t.byDest.Copy(), t.conditions, false}
}

// Private returns a copy of t, or t if it is private, that changes in place: for many changes
// before anybody else reads the table. Public ends that.
func (t *Table) Private() *Table {
	next := t.edit()
	next.private = true
	return next
}

// Public returns t as a table that never changes again.
func (t *Table) Public() *Table {
	t.private = false
	return t
}

// Queue returns the queue that the default exchange has for a name.
func (t *Table) Queue(name string) (QueueID, bool) { return t.queues.Get(name) }

// Queues yields names and ids in the order of the names.
func (t *Table) Queues() iter.Seq2[string, QueueID] {
	return func(yield func(string, QueueID) bool) { t.queues.Scan(yield) }
}

// AddQueue makes a queue reachable through the default exchange. A queue's id is never 0.
func (t *Table) AddQueue(name string, id QueueID) *Table {
	next := t.edit()
	next.queues.Set(name, id)
	return next
}

// RemoveQueue removes a queue from the default exchange, with all bindings to it, which it returns.
// The cost depends only on the number of its own bindings. The name stays if another queue has it
// by now.
func (t *Table) RemoveQueue(name string, id QueueID) (*Table, []Binding) {
	next := t.edit()
	if cur, ok := next.queues.Get(name); ok && cur == id {
		next.queues.Delete(name)
	}
	return next, next.dropDestination(Destination{Queue: id})
}
