package broker

import (
	"fiveways/internal/core/forward"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/routing"
)

// noStoreHeader set to true keeps a message out of the history of a recent-history exchange.
const noStoreHeader = "x-recent-history-no-store"

// recall sends the history of the exchange, in order, to a destination that has just been bound to
// it, and returns when the messages are on their way.
func (s *Session) recall(b *routing.Binding) {
	x, ok := s.vhost.Table().Exchange(b.Source)
	if !ok || !x.Relay().Copy {
		return
	}
	q := s.b.relayQueue(x)
	if q == nil {
		return
	}
	q.shard.call(func() { q.shard.recall(q, b) }) //nolint:errcheck // a broker that closes sends nothing
}

func (sh *shard) recall(q *Queue, b *routing.Binding) {
	q.state.Due(sh.now)
	var handles []queue.Handle
	q.state.Each(0, func(it *queue.Item, status queue.Status) bool {
		handles = append(handles, it.Handle)
		return true
	})
	for _, h := range handles {
		it, status := q.state.Get(h)
		if status != queue.Ready {
			continue
		}
		deadline := it.Expires // a message in a relay expires by its deadline only
		env, err := sh.load(q, it)
		if err != nil {
			sh.setAside(q, it, err)
			continue
		}
		m, err := forward.Read(env)
		if err != nil {
			continue // the protocol has checked it
		}
		if targets := q.vhost.recallTo(b, &m); !targets.Empty() {
			o := forwardOp(&m)
			o.deadline = deadline
			sh.handOver(o, targets, nil)
			sh.doLocal()
		}
	}
}

// recallTo finds where a remembered message goes by a new binding.
func (v *VHost) recallTo(b *routing.Binding, m *forward.Message) Targets {
	table := v.Table()
	if rm := m.Routed(); !table.Admits(b, &rm) {
		return Targets{}
	}
	if b.ToExchange != "" {
		t, _ := v.routeOut(b.ToExchange, m, routing.PastNone)
		return t
	}
	return v.resolve([]routing.QueueID{b.ToQueue})
}
