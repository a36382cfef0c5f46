package shard

import (
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Limit bounds the unacked deliveries of several consumers together (the global prefetch of a
// channel), on any queues and shards.
type Limit = dispatch.Limit

// NewLimit returns a limit of n deliveries; 0 means unlimited.
func NewLimit(n int) *Limit { return dispatch.NewLimit(n) }

// Window counts the bytes of deliveries that one connection has not yet written: the sink adds what
// it encodes, and the connection's writer subtracts what it has written.
type Window = dispatch.Window

// Consumer receives the messages of one queue for one session.
type Consumer struct {
	Tag       string
	NoAck     bool
	Queue     *Queue // nil for a mailbox
	Data      any    // for the protocol's use
	Priority  int
	Channel   int  // of the connection; 0: its protocol has no channels
	Exclusive bool // no other consumer may share the queue
	Args      message.Table

	client *Client
	reader Reader            // nil: it consumes instead of reading a stream
	state  dispatch.Consumer // belongs to the queue's shard, as out and reader do
	out    *outbox
}

// Session and User return the names of the consumer's session and of its user.
func (c *Consumer) Session() string { return c.client.Name }
func (c *Consumer) User() string    { return c.client.User }

// ConsumerOf returns the consumer that owns dispatch's part c.
func ConsumerOf(c *dispatch.Consumer) *Consumer { return c.Owner.(*Consumer) }

// exclusive reports whether the queue has an exclusive consumer.
func (q *Queue) exclusive() bool {
	return q.consumers.Len() > 0 && ConsumerOf(q.consumers.All()[0]).Exclusive
}

// consumed implements dispatch.Queue for a queue.
type consumed struct{ q *Queue }

func (c consumed) Loop() dispatch.Loop { return c.q.shard }
func (c consumed) Look()               { c.q.shard.mark(c.q) }

// Grant implements dispatch.Loop.
func (sh *Shard) Grant(s *dispatch.Share, n int) {
	sh.Send(Op{Kind: opGrant, Extra: s, N: uint32(n)})
}

// selection implements dispatch.Source: a queue is the source of its selective dispatch.
type selection struct {
	q      *Queue
	posted bool // another attempt is posted to the shard
}

func (q *Queue) newSelective() *dispatch.Selective {
	q.selection = selection{q: q}
	return dispatch.NewSelective(q.Policy().GroupHeader, q.state, &q.selection)
}

func (s *selection) Next(until int64) *queue.Item { return s.q.shard.nextReady(s.q, until) }

func (s *selection) TakeAside(h queue.Handle, until int64) *queue.Item {
	return s.q.shard.takeAside(s.q, h, until)
}

func (s *selection) Deliver(c *dispatch.Consumer, it *queue.Item) {
	s.q.shard.deliver(s.q, ConsumerOf(c), it)
}

func (s *selection) LookAgain() {
	if s.posted {
		return
	}
	s.posted = true
	s.q.shard.Post(func() {
		s.posted = false
		if !s.q.gone {
			s.q.shard.mark(s.q)
		}
	})
}

// refilter is called when the consumers of a queue have changed. If that changes which selectors
// apply, the messages that were set aside are considered again.
func (sh *Shard) refilter(q *Queue) {
	if q.selective == nil {
		if !q.consumers.Selectors() {
			return
		}
		q.endEarly()
		q.selective = q.newSelective()
	}
	changed, needed := q.selective.Refilter(&q.consumers)
	if !needed {
		q.selective = nil
	}
	if changed {
		sh.mark(q)
	}
}

// takeAside lends a message that was set aside, with its body. It returns nil if the message
// expires by until (its timer removes it) or cannot be read.
func (sh *Shard) takeAside(q *Queue, h queue.Handle, until int64) *queue.Item {
	it := q.state.Lend(h)
	if it.Expires != 0 && it.Expires <= until {
		q.state.Park(h)
		return nil
	}
	if it.Env != nil {
		return it
	}
	env, err := sh.bodies.LoadAside(it)
	if err != nil {
		sh.setAside(q, it, err)
		return nil
	}
	sh.loaded = *it
	sh.loaded.Env = env
	return &sh.loaded
}

// oldest lends the message that a length limit drops next.
func (sh *Shard) oldest(q *Queue) *queue.Item {
	if q.selective != nil || q.early != nil {
		return q.state.Oldest()
	}
	return q.state.Next(sh.now)
}

// NewConsumer returns a consumer of a client, not yet joined to a queue.
func NewConsumer(of *Client, spec *ConsumerSpec) *Consumer {
	c := &Consumer{
		Tag: spec.Tag, NoAck: spec.NoAck, Data: spec.Data, Priority: spec.Priority,
		client: of, reader: spec.Reader, Exclusive: spec.Exclusive, Channel: spec.Channel, Args: spec.Args,
	}
	c.state = dispatch.Consumer{
		Owner: c, Priority: spec.Priority, NoAck: spec.NoAck, Prefetch: spec.Prefetch,
		Window: &of.Window, Selector: spec.Selector, Limit: spec.Limit, Reads: spec.Reader != nil,
	}
	return c
}

// State returns dispatch's part of the consumer, for the goroutine of its queue's shard.
func (c *Consumer) State() *dispatch.Consumer { return &c.state }

// Gone reports, on the goroutine of its queue's shard, whether the consumer has ended.
func (c *Consumer) Gone() bool { return c.state.Gone() }

// Join adds a consumer to the queue. started runs before the first delivery, on the shard's
// goroutine. Errors: ErrQueueNotFound, ErrExclusiveConsumer, ErrWrongKind (c is a reader, and the
// queue is no declared stream), ErrClosed.
func (q *Queue) Join(c *Consumer, started func()) (err error) {
	c.Queue = q
	if failed := q.shard.Call(func() { err = q.shard.consume(q, c, started) }); failed != nil {
		return failed
	}
	return err
}

func (sh *Shard) consume(q *Queue, c *Consumer, started func()) error {
	if q.gone {
		return q.Fail(failure.ErrQueueNotFound)
	}
	sh.catchUpConsumers(q)
	if c.Exclusive && q.Policy().SingleActive || q.consumers.Len() > 0 && c.Exclusive || q.exclusive() {
		return q.Fail(failure.ErrExclusiveConsumer)
	}
	if c.reader != nil {
		if !q.Declared.Stream {
			return q.Fail(failure.ErrWrongKind)
		}
		c.reader.Start(Context{sh, q})
	}
	q.consumers.Add(&c.state)
	sh.join(c)
	sh.refilter(q)
	q.used(sh.now)
	if started != nil {
		started()
	}
	sh.mark(q)
	return nil
}

// Leave removes a consumer from the queue. last reports whether the queue has none left. No
// delivery follows after Leave has returned. Errors: ErrClosed.
func (q *Queue) Leave(c *Consumer) (last bool, err error) {
	waits := false
	err = q.shard.Call(func() {
		if c.out != nil { // a consumer of copies was never a consumer of the queue
			last, waits = q.shard.cancel(q, c), c.out.pending > 0
		}
	})
	if waits {
		q.AwaitDurable() //nolint:errcheck // a log that has failed delivers nothing more
	}
	return last, err
}

// cancel removes the consumer from the queue. last reports whether the queue has none left.
func (sh *Shard) cancel(q *Queue, c *Consumer) (last bool) {
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
