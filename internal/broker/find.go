package broker

import (
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// Find looks for a message of a queue by its message-id, whatever is happening to it; "" asks for the first message, whichever it is. ok is
// false when there is none. In a queue whose messages are found by their ids (QueuePolicy.ConsumeAfter) it is one look, in others the bodies are
// read in order until it comes. Of several messages with the id it is the oldest. Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive,
// ErrClosed.
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
	if messageID == "" {
		n = 1
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

// browsed is a message as it stands, nil when it has gone or cannot be read. It runs on the shard's goroutine.
func (sh *shard) browsed(q *Queue, h queue.Handle) *Browsed {
	it, status := q.state.Get(h)
	if status == queue.Gone {
		return nil
	}
	if status == queue.Parked {
		status = queue.Ready
	}
	m := Browsed{
		Handle: h, Env: it.Env, Status: status, Redelivered: it.Flags&queue.Redelivered != 0, Count: it.Count, Due: it.Due, Expires: it.Expires,
	}
	if m.Env == nil {
		var err error
		if m.Env, err = sh.loadAside(it); err != nil {
			return nil
		}
	}
	return &m
}
