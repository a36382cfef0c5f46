package inspect

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

// Find looks for a message of a queue by its message-id, whatever is happening to it; "" asks for
// the first message, whichever it is. ok is false when there is none. In a queue whose messages
// have an order (catalog.QueuePolicy.ConsumeAfter) it is one look, in others the bodies are read in
// order until it comes. Of several messages with the id it is the first. Errors: ErrAccessRefused,
// ErrQueueNotFound, ErrExclusive, ErrClosed.
func Find(s *broker.Session, queue, messageID string) (m Message, ok bool, err error) {
	b, err := Browse(s, queue)
	if err != nil {
		return m, false, err
	}
	return b.find(messageID)
}

// find goes on until a message with the id comes.
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

// findByID asks the order where the message is.
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
