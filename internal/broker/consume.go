package broker

import "fiveways/internal/core/dispatch"

// Consume registers a consumer. Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive,
// ErrExclusiveConsumer, ErrClosed.
func (s *Session) Consume(spec ConsumerSpec) (*Consumer, error) {
	s.Flush()
	if err := s.may(toRead, "queue", spec.Queue); err != nil {
		return nil, err
	}
	q, err := s.usableQueue(spec.Queue)
	if err != nil {
		return nil, err
	}
	c := &Consumer{
		Tag: spec.Tag, NoAck: spec.NoAck, Queue: q, Data: spec.Data, Priority: spec.Priority,
		session: s, Exclusive: spec.Exclusive, Channel: spec.Channel, Args: spec.Args,
	}
	c.state = dispatch.Consumer{
		Owner: c, Priority: spec.Priority, NoAck: spec.NoAck, Prefetch: spec.Prefetch,
		Window: &s.window, Selector: spec.Selector, Limit: spec.Limit,
	}
	failed := q.shard.call(func() { err = q.shard.consume(q, c, spec) })
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.consumers == nil {
		s.consumers = map[*Consumer]struct{}{}
	}
	s.consumers[c] = struct{}{}
	s.mu.Unlock()
	return c, nil
}

func (sh *shard) consume(q *Queue, c *Consumer, spec ConsumerSpec) error {
	if q.gone {
		return &Error{Err: ErrQueueNotFound, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
	}
	sh.catchUpConsumers(q)
	if c.Exclusive && q.Policy().SingleActive || q.consumers.Len() > 0 && c.Exclusive || q.exclusive() {
		return &Error{Err: ErrExclusiveConsumer, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
	}
	q.consumers.Add(&c.state)
	sh.join(c)
	sh.refilter(q)
	q.used(sh.now)
	if spec.Started != nil {
		spec.Started()
	}
	sh.mark(q)
	return nil
}

// Cancel ends a consumer. Its deliveries stay unacked. No delivery comes after Cancel has returned.
// With the last consumer of an auto-delete queue the queue is deleted.
func (s *Session) Cancel(c *Consumer) {
	s.Flush()
	s.mu.Lock()
	delete(s.consumers, c)
	s.mu.Unlock()
	if c.copier != nil {
		c.copier.halt()
		return
	}
	if c.Queue == nil {
		return // of a mailbox: CloseMailbox ends it
	}
	q := c.Queue
	last, waits := false, false
	err := q.shard.call(func() { last, waits = q.shard.cancel(q, c), c.out.pending > 0 })
	if waits {
		q.AwaitDurable() //nolint:errcheck // a log that has failed delivers nothing more
	}
	if err == nil && last && q.AutoDelete {
		s.b.deleteQueue(q)
	}
}

// cancel removes the consumer from the queue; last reports whether the queue has none left.
func (sh *shard) cancel(q *Queue, c *Consumer) (last bool) {
	sh.catchUpConsumers(q)
	c.out.flush(sh)
	if q.gone || !q.consumers.Remove(&c.state) {
		return false
	}
	sh.leave(c)
	if q.selective != nil {
		q.selective.Left(&c.state)
		sh.refilter(q)
	}
	q.used(sh.now)
	sh.mark(q)
	return q.consumers.Len() == 0
}

// Get takes one message; ok is false when none is ready. left is the number of messages that are
// still ready. Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive, ErrClosed.
func (s *Session) Get(queueName string, noAck bool) (d Delivery, left int, ok bool, err error) {
	return s.GetOn(0, queueName, noAck)
}

// GetOn is Get for a channel of the session; a tap is told the channel.
func (s *Session) GetOn(channel int, queueName string, noAck bool) (d Delivery, left int, ok bool, err error) {
	s.Flush()
	if err := s.may(toRead, "queue", queueName); err != nil {
		return d, 0, false, err
	}
	q, err := s.usableQueue(queueName)
	if err != nil {
		return d, 0, false, err
	}
	early := false // what it gets may be gone after a crash, and must not be
	for again := true; again && err == nil; {
		err = q.shard.call(func() {
			again = false
			if !q.gone {
				q.used(q.shard.now)
				d, left, ok, again = q.shard.get(q, noAck, holder{s, channel})
				early = ok && q.serverEntry > q.shard.durable.upTo.Load()
			}
		})
	}
	if early && err == nil {
		err = q.AwaitDurable()
	}
	return d, left, ok, err
}
