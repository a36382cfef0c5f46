package broker

import "fiveways.dev/fiveways/internal/broker/shard"

// Consume registers a consumer. Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive,
// ErrExclusiveConsumer, ErrClosed.
func (s *Session) Consume(spec shard.ConsumerSpec) (*shard.Consumer, error) {
	s.Flush()
	if err := s.May(Reading, "queue", spec.Queue); err != nil {
		return nil, err
	}
	q, err := s.usableQueue(spec.Queue)
	if err != nil {
		return nil, err
	}
	c := shard.NewConsumer(&s.client, &spec)
	s.client.Add(c) // before it joins, because the deletion of its queue removes it again
	if err := q.Join(c, spec.Started); err != nil {
		s.client.Forget(c)
		return nil, err
	}
	return c, nil
}

// Cancel ends a consumer. Its deliveries stay unacked. No delivery follows after Cancel has
// returned. The last consumer of an auto-delete queue deletes the queue.
func (s *Session) Cancel(c *shard.Consumer) {
	s.Flush()
	s.client.Forget(c)
	if k := s.copierOf(c); k != nil {
		k.halt()
		return
	}
	if c.Queue == nil {
		return // of a mailbox: CloseMailbox ends it
	}
	q := c.Queue
	if last, err := q.Leave(c); err == nil && last && q.AutoDelete {
		s.b.deleteQueue(q)
	}
}

// Get takes one message. ok is false if none is ready. left is the number of messages still ready.
// Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive, ErrClosed.
func (s *Session) Get(queueName string, noAck bool) (d shard.Delivery, left int, ok bool, err error) {
	return s.GetOn(0, queueName, noAck)
}

// GetOn is Get for a channel of the session, which it reports to a tap.
func (s *Session) GetOn(channel int, queueName string, noAck bool) (d shard.Delivery, left int, ok bool, err error) {
	s.Flush()
	if err := s.May(Reading, "queue", queueName); err != nil {
		return d, 0, false, err
	}
	q, err := s.usableQueue(queueName)
	if err != nil {
		return d, 0, false, err
	}
	return q.Get(&s.client, channel, noAck)
}
