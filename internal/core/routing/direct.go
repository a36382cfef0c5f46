package routing

import "github.com/tidwall/btree"

// destinations is an immutable set of queues and exchanges, in the order in which they were added.
type destinations struct {
	queues    list[QueueID]
	exchanges list[string]
}

func (s *destinations) with(d Destination) *destinations {
	var next destinations
	if s != nil {
		next = *s
	}
	if d.Exchange != "" {
		next.exchanges = next.exchanges.with(d.Exchange)
	} else {
		next.queues = next.queues.with(d.Queue)
	}
	return &next
}

// without returns the set without d, or nil if that is empty.
func (s *destinations) without(d Destination) *destinations {
	next := *s
	if d.Exchange != "" {
		next.exchanges = next.exchanges.without(d.Exchange)
	} else {
		next.queues = next.queues.without(d.Queue)
	}
	if len(next.queues.items)+len(next.exchanges.items) == 0 {
		return nil
	}
	return &next
}

// byQueueName is the default exchange. Nothing can be bound to it.
type byQueueName struct{}

func (byQueueName) check(*Binding) error                { return &Error{Kind: ErrDefaultExchange} }
func (x byQueueName) add(*Binding, siblings) matcher    { return x }
func (x byQueueName) remove(*Binding, siblings) matcher { return x }

func (byQueueName) match(m *Message, r *Route) {
	if id, ok := r.table.queues.Get(view(m.Key)); ok {
		r.addQueue(id)
	}
	for _, key := range m.Also {
		if id, ok := r.table.queues.Get(view(key)); ok {
			r.addQueue(id)
		}
	}
}

// direct matches equal keys.
type direct struct {
	keys *btree.Map[string, *destinations] // nil if empty
}

func (direct) check(*Binding) error { return nil }

func (x direct) add(b *Binding, others siblings) matcher {
	if others.existWithKey() {
		return x
	}
	next := direct{copyMap(x.keys)}
	set, _ := next.keys.Get(b.Key)
	next.keys.Set(b.Key, set.with(b.Destination()))
	return next
}

func (x direct) remove(b *Binding, others siblings) matcher {
	if others.existWithKey() {
		return x
	}
	next := direct{copyMap(x.keys)}
	set, _ := next.keys.Get(b.Key)
	if set = set.without(b.Destination()); set != nil {
		next.keys.Set(b.Key, set)
	} else {
		next.keys.Delete(b.Key)
	}
	return next
}

func (x direct) match(m *Message, r *Route) {
	x.matchKey(m.Key, r)
	for _, key := range m.Also {
		x.matchKey(key, r)
	}
}

func (x direct) matchKey(key []byte, r *Route) {
	if x.keys == nil {
		return
	}
	if set, ok := x.keys.Get(view(key)); ok {
		r.take(set)
	}
}

// copyMap returns a copy of m that may be changed; nil stands for an empty map.
func copyMap[V any](m *btree.Map[string, V]) *btree.Map[string, V] {
	if m == nil {
		return btree.NewMap[string, V](degree)
	}
	return m.Copy()
}

// fanout matches every message.
type fanout struct{ set *destinations }

func (fanout) check(*Binding) error { return nil }

func (x fanout) add(b *Binding, others siblings) matcher {
	if others.exist() {
		return x
	}
	return fanout{x.set.with(b.Destination())}
}

func (x fanout) remove(b *Binding, others siblings) matcher {
	if others.exist() {
		return x
	}
	return fanout{x.set.without(b.Destination())}
}

func (x fanout) match(_ *Message, r *Route) {
	if x.set != nil {
		r.take(x.set)
	}
}
