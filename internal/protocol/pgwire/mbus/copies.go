package mbus

import (
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/message"
)

// sendCopies posts to where triggers lead what was posted to their source: each copy is a message
// of its own, with an iid of its own, posted with the poster's headers and properties, at once and
// for ever; but one for a temporary queue comes and expires with its original. path is the
// exchanges on the way, for triggers that were bound by other clients may lead round.
func (s *Session) sendCopies(from *broker.Session, p *posting, copies []broker.Onward, path []string) error {
	for _, to := range copies {
		switch {
		case to.Exchange != "" && slices.Contains(path, to.Exchange):
			continue
		case to.Exchange == "" && slices.Contains(copies, broker.Onward{Exchange: to.Queue}):
			continue // the trigger is older than the exchange, which brings it to the queue
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
