package broker

import (
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
)

// OpenMailbox opens a mailbox with a name that cannot be guessed. Deliveries are made on the
// poster's goroutine. Errors: ErrClosed.
func (s *Session) OpenMailbox(spec shard.ConsumerSpec) (name string, c *shard.Consumer, err error) {
	c = shard.NewConsumer(&s.client, &shard.ConsumerSpec{Tag: spec.Tag, NoAck: true, Data: spec.Data})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", nil, failure.ErrClosed
	}
	if s.mailboxes == nil {
		s.mailboxes = map[string]struct{}{}
	}
	name = s.b.mailboxes.Open(&s.client, c)
	s.mailboxes[name] = struct{}{}
	return name, c, nil
}

// CloseMailbox ends a mailbox.
func (s *Session) CloseMailbox(name string) {
	s.b.mailboxes.Close(name)
	s.mu.Lock()
	delete(s.mailboxes, name)
	s.mu.Unlock()
}

// HasMailbox reports whether a mailbox of that name is open.
func (b *Broker) HasMailbox(name string) bool { return b.mailboxes.Has(name) }

// Post delivers a message to a mailbox. It returns false if the mailbox does not exist or its owner
// does not read.
func (s *Session) Post(name string, env message.Envelope) bool { return s.b.mailboxes.Post(name, env) }
