package broker

import (
	"crypto/rand"
	"encoding/base64"
	"sync"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
)

// mailbox is a consumer without a queue: a message posted to it is delivered at once or lost. It
// carries the replies of request/reply.
type mailbox struct {
	mu    sync.Mutex // one delivery at a time
	owner *shard.Client
	c     *shard.Consumer
}

// OpenMailbox opens a mailbox with a name that cannot be guessed. Deliveries are made on the
// poster's goroutine. Errors: ErrClosed, and that of the random source.
func (s *Session) OpenMailbox(spec shard.ConsumerSpec) (name string, c *shard.Consumer, err error) {
	var random [18]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", nil, err
	}
	name = base64.RawURLEncoding.EncodeToString(random[:])
	c = shard.NewConsumer(&s.client, &shard.ConsumerSpec{Tag: spec.Tag, NoAck: true, Data: spec.Data})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", nil, failure.ErrClosed
	}
	if s.mailboxes == nil {
		s.mailboxes = map[string]struct{}{}
	}
	s.mailboxes[name] = struct{}{}
	s.b.mailboxes.Store(name, &mailbox{owner: &s.client, c: c})
	return name, c, nil
}

// CloseMailbox ends a mailbox.
func (s *Session) CloseMailbox(name string) {
	s.b.mailboxes.Delete(name)
	s.mu.Lock()
	delete(s.mailboxes, name)
	s.mu.Unlock()
}

// HasMailbox reports whether a mailbox of that name is open.
func (b *Broker) HasMailbox(name string) bool {
	_, ok := b.mailboxes.Load(name)
	return ok
}

// Post delivers a message to a mailbox. It returns false if the mailbox does not exist or its owner
// does not read.
func (s *Session) Post(name string, env message.Envelope) bool {
	v, ok := s.b.mailboxes.Load(name)
	if !ok {
		return false
	}
	m := v.(*mailbox)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owner.Window.Full() {
		return false
	}
	m.owner.Sink.Deliver([]shard.Delivery{{Consumer: m.c, Env: env}})
	return true
}
