package inspect

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

// Find finds a message in a queue by its message-id, whatever its state; "" finds the first
// message. ok is false if there is none. In a queue whose messages have an order
// (catalog.QueuePolicy.ConsumeAfter) this is one look-up; in others it reads the bodies in order
// until it finds the message. If several messages have the id, it finds the first. Errors:
// ErrAccessRefused, ErrQueueNotFound, ErrExclusive, ErrClosed.
func Find(s *broker.Session, queue, messageID string) (m Message, ok bool, err error) {
	b, err := Browse(s, queue)
	if err != nil {
		return m, false, err
	}
	return b.find(messageID)
}

// find continues until it finds a message with the id.
func (b *Browser) find(messageID string) (m Message, ok bool, err error) {
	n := shard.PageMessages
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

// findByID asks the order for the message's position.
func (b *Browser) findByID(messageID string) (m Message, ok bool, err error) {
	err = b.b.At(b.q, func(at shard.Context) {
		if at.Gone() {
			return
		}
		if h, ok := at.Dependencies().First(messageID); ok {
			it, status := at.Deliveries().Get(h)
			b.add(at, it, status)
		}
	})
	if b.load(); err != nil || len(b.page) == 0 {
		return m, false, err
	}
	return b.page[0], true, nil
}
