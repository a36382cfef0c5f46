package shard

import (
	"fiveways.dev/fiveways/internal/core/forward"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/routing"
)

// noStoreHeader, if true, keeps a message out of the history of a recent-history exchange.
const noStoreHeader = "x-recent-history-no-store"

// Recall sends the messages in the queue of an exchange, in order, to a destination that was just
// bound to the exchange. It returns once they are sent.
func (q *Queue) Recall(b *routing.Binding) {
	q.shard.Call(func() { q.shard.recall(q, b) }) //nolint:errcheck // a broker that closes sends nothing
}

func (sh *Shard) recall(q *Queue, b *routing.Binding) {
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
		deadline := it.Expires // messages in an exchange buffer expire only by their deadline
		env, err := sh.bodies.Load(&q.reader, it)
		if err != nil {
			sh.setAside(q, it, err)
			continue
		}
		m, err := forward.Read(env)
		if err != nil {
			continue // the protocol has checked it
		}
		if targets := q.vhost.recallTo(b, &m); !targets.Empty() {
			o := ForwardOp(&m)
			o.deadline = deadline
			sh.handOver(o, targets, nil)
			sh.doLocal()
		}
	}
}

// recallTo finds the queues that a stored message reaches through a new binding.
func (v *VHost) recallTo(b *routing.Binding, m *forward.Message) Targets {
	table := v.Table()
	if rm := m.Routed(); !table.Admits(b, &rm) {
		return Targets{}
	}
	if b.ToExchange != "" {
		t, _ := v.routeOut(b.ToExchange, m, routing.PastNone)
		return t
	}
	return v.Resolve([]routing.QueueID{b.ToQueue})
}
