package broker

import (
	"slices"

	"fiveways/internal/core/message"
	"fiveways/internal/core/routing"
)

// Onward is where a binding that copies leads: to an exchange, or with Exchange "" to a queue.
type Onward struct{ Exchange, Queue string }

// Name is that of the exchange or queue.
func (o Onward) Name() string { return o.Exchange + o.Queue }

// RouteApart is Route for senders who make messages of their own of the copies: it does not follow
// the bindings that copy, and returns where they lead. Errors: those of Route.
func (s *Session) RouteApart(exchange, key []byte, peek *message.Peek) (Targets, []Onward, error) {
	s.found.Copies = s.found.Copies[:0] // a cached route finds none
	t, err := s.route(exchange, key, peek, nil, true)
	return t, s.onwards(), err
}

// RouteCopy is RouteApart for such a copy. It asks for no right, as no binding does: those were
// asked for that wanted the binding.
func (s *Session) RouteCopy(to Onward, key []byte, peek *message.Peek) (Targets, []Onward) {
	table := s.vhost.Table()
	if to.Exchange == "" {
		q, ok := s.vhost.queue(to.Queue)
		if !ok {
			return Targets{}, nil
		}
		return newTargets([]*Queue{q}), nil
	}
	x, ok := table.Exchange(to.Exchange)
	if !ok {
		return Targets{}, nil
	}
	s.asked = asks(key, nil, peek)
	s.asked.Apart = true
	table.RouteFrom(x, &s.asked, &s.found)
	s.asked = routing.Message{}
	return s.vhost.resolve(s.found.Queues), s.onwards()
}

// onwards names the copies that were found last.
func (s *Session) onwards() (all []Onward) {
	for _, d := range s.found.Copies {
		to := Onward{Exchange: d.Exchange}
		if d.Exchange == "" {
			q, ok := s.b.queueByID(uint64(d.Queue))
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

// asks is a message as routing looks at it.
func asks(key []byte, also [][]byte, peek *message.Peek) routing.Message {
	return routing.Message{
		Key: key, Also: also, Headers: peek.Headers, MessageID: peek.MessageID,
		CorrelationID: peek.CorrelationID, Timestamp: uint64(peek.Timestamp), Props: peek.List, Body: peek.Body,
	}
}
