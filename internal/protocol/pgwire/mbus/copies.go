package mbus

import (
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/message"
)

// sendCopies posts copies to where triggers lead. Each copy is a separate message with its own iid
// and the poster's headers and properties. It has no delay and does not expire, but a copy to a
// temporary queue has the delay and the expiry of the original. path lists the exchanges visited so
// far, because bindings made by other clients may form a cycle.
func (s *Session) sendCopies(from *broker.Session, p *posting, copies []broker.Onward, path []string) error {
	for _, to := range copies {
		switch {
		case to.Exchange != "" && slices.Contains(path, to.Exchange):
			continue
		case to.Exchange == "" && slices.Contains(copies, broker.Onward{Exchange: to.Queue}):
			continue // the trigger is older than the exchange, which routes the message to the queue
		}
		if err := s.sendCopy(from, p, to, path); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) sendCopy(from *broker.Session, of *posting, to broker.Onward, path []string) error {
	p := *of
	p.queue, p.exchange, p.key = to.Name(), to.Exchange, to.Queue
	named := p.queue
	if isTemporary(p.queue) {
		named = s.database
	} else {
		p.hasDelayed, p.hasExpires = false, false
	}
	p.claim = nil
	var err error
	if p.iid, err = s.newIID(named); err != nil {
		return err
	}
	m, err := s.encoder.encode(&p)
	if err != nil {
		return err
	}
	_, _, props, body := m.env.Split()
	peek, err := message.PeekProperties(props)
	if err != nil {
		return s.failed(err)
	}
	peek.Body = body
	targets, copies := from.RouteCopy(to, []byte(p.key), &peek)
	if !targets.Empty() {
		if err := s.add(&p, "", &m, targets, nil); err != nil {
			return err
		}
	}
	return s.sendCopies(from, &p, copies, append(slices.Clip(path), to.Exchange))
}
