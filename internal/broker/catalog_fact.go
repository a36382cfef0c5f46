package broker

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"

	"fiveways/internal/core/message"
	"fiveways/internal/core/routing"
	"fiveways/internal/storage/store"
)

// factTopology is the one type of fact in the topology's log: its payload is a
// JSON object, so that definitions can be read with any tool and grow new
// members. docs/format/facts.md describes them. Never renumber.
const factTopology = 16

// topologyFact says one change of the definitions. Exactly one of the pointers
// is set, or a deletion.
type topologyFact struct {
	VHost    string        `json:"vhost"`
	Delete   bool          `json:"delete,omitempty"`
	Queue    *queueFact    `json:"queue,omitempty"`
	Exchange *exchangeFact `json:"exchange,omitempty"`
	Binding  *bindingFact  `json:"binding,omitempty"`
	// NextQueue is in checkpoints only: ids below it were used.
	NextQueue uint64 `json:"next_queue,omitempty"`
}

type queueFact struct {
	ID         uint64      `json:"id"`
	Name       name        `json:"name"`
	Shard      uint32      `json:"shard,omitempty"`
	AutoDelete bool        `json:"auto_delete,omitempty"`
	Implicit   bool        `json:"implicit,omitempty"`
	Args       []byte      `json:"args,omitempty"` // encoded table
	Policy     QueuePolicy `json:"policy"`
}

type exchangeFact struct {
	Name       name   `json:"name"`
	Type       string `json:"type,omitempty"`
	AutoDelete bool   `json:"auto_delete,omitempty"`
	Internal   bool   `json:"internal,omitempty"`
	Alternate  name   `json:"alternate,omitempty"`
	Args       []byte `json:"args,omitempty"`
	// Relay is the queue that belongs to the exchange.
	Relay *queueFact `json:"relay,omitempty"`
}

type bindingFact struct {
	Source     name   `json:"source"`
	ToQueue    uint64 `json:"to_queue,omitempty"`
	ToExchange name   `json:"to_exchange,omitempty"`
	Key        name   `json:"key,omitempty"`
	Args       []byte `json:"args,omitempty"`
}

func (f *topologyFact) append(dst []byte) []byte {
	b, err := json.Marshal(f)
	if err != nil {
		panic("broker: a topology fact cannot be encoded: " + err.Error()) // plain structs: cannot happen
	}
	return append(appendFact(dst, factTopology, len(b)), b...)
}

func decodeArgs(b []byte) message.Table {
	if len(b) < 4 {
		return nil
	}
	if n := binary.BigEndian.Uint32(b); int(n) != len(b)-4 {
		return nil
	}
	t, err := message.DecodeTable(b[4:])
	if err != nil {
		return nil
	}
	return t
}

func (f *queueFact) table() message.Table { return decodeArgs(f.Args) }

func (f *bindingFact) binding() routing.Binding {
	return routing.Binding{
		Source: string(f.Source), ToQueue: routing.QueueID(f.ToQueue), ToExchange: string(f.ToExchange), Key: string(f.Key),
		Args: decodeArgs(f.Args),
	}
}

// apply replays one fact of the topology.
func (c *catalog) apply(index uint64, fact []byte) error {
	switch {
	case len(fact) > 0 && fact[0] == factAccess:
		return c.replayAccess(index, fact[1:])
	case len(fact) > 0 && fact[0] == factParameter:
		return c.replayParameter(index, fact[1:])
	case len(fact) > 0 && fact[0] == factSequence:
		return c.replaySequence(index, fact[1:])
	case len(fact) == 0 || fact[0] != factTopology:
		return fmt.Errorf("topology entry %d: %w: unknown fact", index, store.ErrUnsupportedFormat)
	}
	var f topologyFact
	if err := json.Unmarshal(fact[1:], &f); err != nil {
		return fmt.Errorf("topology entry %d: %w", index, err)
	}
	c.index = max(c.index, index)
	c.nextQueue = max(c.nextQueue, f.NextQueue)
	v, ok := c.vhost(f.VHost)
	if !ok {
		if f.NextQueue > 0 {
			return nil
		}
		return fmt.Errorf("topology entry %d: %w: virtual host '%s' is not there", index, store.ErrCorrupt, f.VHost)
	}
	var err error
	switch {
	case f.Queue != nil && f.Delete:
		if q, ok := c.b.queueByID(f.Queue.ID); ok {
			c.remove(q)
		}
	case f.Queue != nil:
		if q, ok := c.b.queueByID(f.Queue.ID); ok {
			q.implicit.Store(f.Queue.Implicit) // all else of a queue stays as it was
			break
		}
		c.nextQueue = max(c.nextQueue, f.Queue.ID+1)
		c.add(c.newQueue(v, f.Queue))
	case f.Exchange != nil && f.Delete:
		if x, ok := v.table.Load().Exchange(string(f.Exchange.Name)); ok {
			c.forgetRelay(x)
		}
		err = v.change(func(t *routing.Table) (*routing.Table, error) {
			t, _, err := t.DeleteExchange(string(f.Exchange.Name))
			return t, err
		})
	case f.Exchange != nil:
		err = v.change(func(t *routing.Table) (*routing.Table, error) {
			t, err := t.DeclareExchange(f.Exchange.spec())
			if err == nil && f.Exchange.Relay != nil {
				t, err = c.restoreRelay(t, v, f.Exchange)
			}
			return t, err
		})
	case f.Binding != nil && f.Delete:
		t, _ := v.table.Load().Unbind(f.Binding.binding())
		v.table.Store(t)
	case f.Binding != nil:
		err = v.change(func(t *routing.Table) (*routing.Table, error) {
			t, _, err := t.Rebind(f.Binding.binding())
			return t, err
		})
	}
	if err != nil {
		return fmt.Errorf("topology entry %d: %w", index, err)
	}
	return nil
}

func (f *exchangeFact) spec() routing.ExchangeSpec {
	return routing.ExchangeSpec{
		Name: string(f.Name), Type: f.Type, Durable: true, AutoDelete: f.AutoDelete, Internal: f.Internal,
		Alternate: string(f.Alternate), Args: decodeArgs(f.Args),
	}
}

// change replaces the routing table of the virtual host.
func (v *VHost) change(fn func(*routing.Table) (*routing.Table, error)) error {
	t, err := fn(v.table.Load())
	if err == nil {
		v.table.Store(t)
	}
	return err
}

// facts yields all that must be replayed to get the durable definitions.
func (c *catalog) facts(yield func(*topologyFact) bool) {
	ok := yield(&topologyFact{VHost: "/", NextQueue: c.nextQueue})
	c.vhosts.Range(func(_, vh any) bool {
		v := vh.(*VHost)
		t := v.table.Load()
		for x := range t.Exchanges() {
			if s := &x.Spec; ok && s.Durable && !predeclared(s.Name) {
				ok = yield(&topologyFact{VHost: v.Name, Exchange: newExchangeFact(s, c.relayQueue(x))})
			}
		}
		for _, id := range t.Queues() {
			if q, found := c.b.queueByID(uint64(id)); ok && found && q.Durable {
				ok = yield(&topologyFact{VHost: v.Name, Queue: newQueueFact(q)})
			}
		}
		for b := range t.Bindings() {
			if ok && c.durable(t, &b) {
				ok = yield(&topologyFact{VHost: v.Name, Binding: newBindingFact(&b)})
			}
		}
		return ok
	})
}

// hash is equal for equal definitions.
func (c *catalog) hash() (sum uint64) {
	add := func(fact []byte) {
		h := fnv.New64a()
		h.Write(fact)
		sum += h.Sum64()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.accessFacts() {
		add(f.append(nil))
	}
	for _, f := range c.parameterFacts() {
		add(f.append(nil))
	}
	for _, f := range c.sequenceFacts() {
		add(f.append(nil))
	}
	c.facts(func(f *topologyFact) bool {
		if f.NextQueue == 0 { // also counts what was not recorded
			add(f.append(nil))
		}
		return true
	})
	return sum
}

func predeclared(name string) bool { return name == "" || len(name) >= 4 && name[:4] == "amq." }

// durable tells whether both ends of the binding survive a restart.
func (c *catalog) durable(t *routing.Table, b *routing.Binding) bool {
	x, ok := t.Exchange(b.Source)
	if !ok || !x.Spec.Durable {
		return false
	}
	if b.ToExchange != "" {
		d, ok := t.Exchange(b.ToExchange)
		return ok && d.Spec.Durable
	}
	q, ok := c.b.queueByID(uint64(b.ToQueue))
	return ok && q.Durable
}

// newExchangeFact tells of an exchange; relay is nil when it has none.
func newExchangeFact(s *routing.ExchangeSpec, relay *Queue) *exchangeFact {
	f := &exchangeFact{
		Name: name(s.Name), Type: s.Type, AutoDelete: s.AutoDelete, Internal: s.Internal, Alternate: name(s.Alternate),
		Args: encodeArgs(s.Args),
	}
	if relay != nil {
		f.Relay = newQueueFact(relay)
	}
	return f
}

func newQueueFact(q *Queue) *queueFact {
	return &queueFact{
		ID: q.ID, Name: name(q.Name), Shard: q.shard.id, AutoDelete: q.AutoDelete, Implicit: q.implicit.Load(),
		Args: encodeArgs(q.Args), Policy: q.Declared,
	}
}

func newBindingFact(b *routing.Binding) *bindingFact {
	return &bindingFact{
		Source: name(b.Source), ToQueue: uint64(b.ToQueue), ToExchange: name(b.ToExchange), Key: name(b.Key),
		Args: encodeArgs(b.Args),
	}
}
