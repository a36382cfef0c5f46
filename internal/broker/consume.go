package broker

// Consume registers a consumer. Errors: ErrAccessRefused, ErrQueueNotFound,
// ErrExclusive, ErrExclusiveConsumer.
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
		session: s, prefetch: spec.Prefetch, exclusive: spec.Exclusive, selector: spec.Selector,
		channel: spec.Channel, args: spec.Args,
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
	n := len(q.consumers.list)
	if c.exclusive && q.Policy().SingleActive || n > 0 && (c.exclusive || q.consumers.list[0].exclusive) {
		return &Error{Err: ErrExclusiveConsumer, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
	}
	q.consumers.add(c)
	if spec.Limit != nil && !c.NoAck {
		c.share = sh.shareOf(c, spec.Limit)
	}
	sh.join(c)
	sh.refilter(q)
	q.used(sh.now)
	if spec.Started != nil {
		spec.Started()
	}
	sh.mark(q)
	return nil
}

// Cancel ends a consumer; its unsettled deliveries stay out. When it returns no
// further delivery can come. The last consumer of an auto-delete queue takes
// the queue along.
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
		return // a mailbox: CloseMailbox ends it
	}
	q := c.Queue
	last := false
	if q.shard.call(func() { last = q.shard.cancel(q, c) }) == nil && last && q.AutoDelete {
		s.b.deleteQueue(q)
	}
}

// cancel takes the consumer off the queue; last tells that none is left.
func (sh *shard) cancel(q *Queue, c *Consumer) (last bool) {
	c.out.flush(sh)
	if q.gone || !q.consumers.remove(c) {
		return false
	}
	c.gone = true
	c.leaveShare()
	sh.leave(c)
	if q.picky != nil {
		q.picky.left(c)
		sh.refilter(q)
	}
	q.used(sh.now)
	sh.mark(q)
	return len(q.consumers.list) == 0
}

// Get takes one message, ok is false when none is ready. left counts those
// that remain. Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive.
func (s *Session) Get(queueName string, noAck bool) (d Delivery, left int, ok bool, err error) {
	s.Flush()
	if err := s.may(toRead, "queue", queueName); err != nil {
		return d, 0, false, err
	}
	q, err := s.usableQueue(queueName)
	if err != nil {
		return d, 0, false, err
	}
	for again := true; again && err == nil; {
		err = q.shard.call(func() {
			again = false
			if !q.gone {
				q.used(q.shard.now)
				d, left, ok, again = q.shard.get(q, noAck)
			}
		})
	}
	return d, left, ok, err
}
