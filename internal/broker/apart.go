package broker

import (
	"slices"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
)

// Onward is the target of a binding that copies: an exchange or, when Exchange is "", a queue.
type Onward struct{ Exchange, Queue string }

// Name returns the name of the exchange or queue.
func (o Onward) Name() string { return o.Exchange + o.Queue }

// RouteApart is Route for a sender that publishes a separate message for each copy: it does not
// follow the bindings that copy, but returns their targets. Errors: those of Route.
func (s *Session) RouteApart(exchange, key []byte, peek *message.Peek) (shard.Targets, []Onward, error) {
	s.found.Copies = s.found.Copies[:0] // a cached route finds none
	t, err := s.route(exchange, key, peek, nil, true)
	return t, s.onwards(), err
}

// RouteCopy routes a copy to one of these targets, as RouteApart does. It checks no permission:
// those of the binding's creator were checked when the binding was created.
func (s *Session) RouteCopy(to Onward, key []byte, peek *message.Peek) (shard.Targets, []Onward) {
	table := s.vhost.Table()
	if to.Exchange == "" {
		q, ok := s.vhost.Queue(to.Queue)
		if !ok {
			return shard.Targets{}, nil
		}
		return shard.NewTargets([]*shard.Queue{q}), nil
	}
	x, ok := table.Exchange(to.Exchange)
	if !ok {
		return shard.Targets{}, nil
	}
	s.asked = asks(key, nil, peek)
	s.asked.Apart = true
	table.RouteFrom(x, &s.asked, &s.found)
	s.asked = routing.Message{}
	return s.vhost.Resolve(s.found.Queues), s.onwards()
}

// onwards returns the targets of the copying bindings that the last route found.
func (s *Session) onwards() (all []Onward) {
	for _, d := range s.found.Copies {
		to := Onward{Exchange: d.Exchange}
		if d.Exchange == "" {
			q, ok := s.b.set.QueueByID(uint64(d.Queue))
			if !ok {
				continue
			}
			to.Queue = q.Name
		}
		if !slices.Contains(all, to) { // bound by several keys
			all = append(all, to)
		}
	}
	return all
}

// asks returns the parts of a message that routing uses.
func asks(key []byte, also [][]byte, peek *message.Peek) routing.Message {
	return routing.Message{
		Key: key, Also: also, Headers: peek.Headers, MessageID: peek.MessageID,
		CorrelationID: peek.CorrelationID, Timestamp: uint64(peek.Timestamp), Props: peek.List, Body: peek.Body,
	}
}
