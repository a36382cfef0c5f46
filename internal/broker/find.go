package broker

import (
	"fiveways/internal/core/idindex"
	"fiveways/internal/core/message"
)

// Find looks for a message of a queue by its message-id, whatever is happening to it; "" asks for
// the first message, whichever it is. ok is false when there is none. In a queue whose messages
// have an order (QueuePolicy.ConsumeAfter) it is one look, in others the bodies are read in order
// until it comes. Of several messages with the id it is the first. Errors: ErrAccessRefused,
// ErrQueueNotFound, ErrExclusive, ErrClosed.
func (s *Session) Find(queueName, messageID string) (m Browsed, ok bool, err error) {
	b, err := s.Browse(queueName)
	if err != nil {
		return m, false, err
	}
	return b.find(messageID)
}

// find goes on until a message with the id comes.
func (b *Browser) find(messageID string) (m Browsed, ok bool, err error) {
	n := pageMessages
	switch {
	case messageID == "":
		n = 1
	case b.q.Policy().Known():
		return b.findByID(messageID)
	}
	for {
		page, err := b.Next(n)
		if err != nil || len(page) == 0 {
			return m, false, err
		}
		for i := range page {
			if messageID == "" || hasID(page[i].Env, messageID) {
				return page[i], true, nil
			}
		}
	}
}

func hasID(env message.Envelope, messageID string) bool {
	peek, err := message.PeekProperties(env.Properties())
	return err == nil && string(peek.MessageID) == messageID
}

// findByID asks the order where the message is.
func (b *Browser) findByID(messageID string) (m Browsed, ok bool, err error) {
	q := b.q
	err = q.shard.call(func() {
		if q.gone {
			return
		}
		if h, ok := q.after.First(messageID); ok {
			it, status := q.state.Get(h)
			b.add(it, status)
		}
	})
	if b.load(); err != nil || len(b.page) == 0 {
		return m, false, err
	}
	return b.page[0], true, nil
}

// Alive reports whether a message with an id is in one of the queues of the virtual host whose
// messages have an order (QueuePolicy.ConsumeAfter), whatever is happening to it, and is none of
// but.
func (s *Session) Alive(messageID string, but ...Loan) (alive bool) {
	s.Flush()
	sum := idindex.SumOf([]byte(messageID))
	for _, sh := range s.vhost.orderedOn() {
		err := sh.call(func() {
			if o := sh.orders[s.vhost]; o != nil {
				alive = o.LivesBeside(sum, sh.placesOf(but))
			}
		})
		if alive || err != nil {
			break
		}
	}
	return alive
}
