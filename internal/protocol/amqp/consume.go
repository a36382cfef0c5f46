package amqp

import (
	"time"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/amqperr"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/streams"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/declareargs"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// consumer is one consumer of a channel.
type consumer struct {
	ch    *channel
	tag   string
	noAck bool

	timeout time.Duration // as the client asked; 0 none, -1 not given

	c       *shard.Consumer // for the reader goroutine: nil until it runs
	mailbox string          // for the reader goroutine: of a consumer of direct replies
}

// cancel removes the consumer from the engine. No delivery follows.
func (k *consumer) cancel() {
	switch s := k.ch.c.session; {
	case k.mailbox != "":
		s.CloseMailbox(k.mailbox)
	case k.c != nil:
		s.Cancel(k.c)
	}
}

// consume starts a consumer.
func (ch *channel) consume(m *amqpwire.BasicConsume) error {
	if m.ConsumerTag == "" {
		m.ConsumerTag = randomName("amq.ctag-")
	}
	c := ch.c
	c.out.mu.Lock()
	other, n := ch.consumers[m.ConsumerTag], len(ch.consumers)
	c.out.mu.Unlock()
	if other != nil && (m.Queue != replyQueue || other != ch.replies) { // a second consumer of replies has its own error
		return faultf(amqpcode.NotAllowed, "attempt to reuse consumer tag '%s'", m.ConsumerTag)
	}
	if limit := c.srv.o.ChannelConsumers; limit > 0 && n >= limit {
		return faultf(amqpcode.NotAllowed, "reached maximum (%d) of consumers per channel", limit)
	}
	k := &consumer{ch: ch, tag: m.ConsumerTag, noAck: m.NoAck}
	if m.Queue == replyQueue {
		return ch.consumeReplies(m, k)
	}
	name, err := ch.queueName(m.Queue)
	if err != nil {
		return err
	}
	ofStream, err := streams.Declared(c.session, name)
	if err != nil {
		return err
	}
	rs := amqperr.Resource("queue", name, c.session.VHost())
	if err := refusedArg(declareargs.Consumer(m.Arguments, ofStream), rs); err != nil {
		return err
	}
	priority, err := consumerPriority(m.Arguments, rs)
	if err != nil {
		return err
	}
	wanted, err := consumerSelector(m.Arguments, rs)
	if err != nil {
		return err
	}
	copies, err := wantsCopies(m, rs)
	if err != nil {
		return err
	}
	if k.timeout, err = consumerTimeout(m.Arguments, amqperr.Resource("queue", name, c.session.VHost())); err != nil {
		return err
	}
	ch.addConsumer(k) // before it starts, because its queue may be deleted at once
	spec := shard.ConsumerSpec{
		Queue: name, Tag: k.tag, NoAck: m.NoAck, Exclusive: m.Exclusive, Prefetch: ch.prefetch, Priority: priority,
		Limit: ch.sharedLimit(), Selector: wanted, Data: k, Channel: int(ch.id), Args: m.Arguments,
		Started: func() {
			if !m.NoWait {
				ch.reply(&amqpwire.BasicConsumeOk{ConsumerTag: k.tag})
			}
		},
	}
	switch {
	case copies:
		k.c, err = inspect.ConsumeCopies(c.session, spec, withState)
	case ofStream:
		k.c, err = ch.consumeStream(m, spec, rs)
	default:
		k.c, err = c.session.Consume(spec)
	}
	if err != nil {
		ch.removeConsumer(k.tag)
	}
	return err
}

func (ch *channel) addConsumer(k *consumer) {
	ch.c.out.mu.Lock()
	defer ch.c.out.mu.Unlock()
	if ch.consumers == nil {
		ch.consumers = map[string]*consumer{}
	}
	ch.consumers[k.tag] = k
}

// removeConsumer removes the consumer called tag and returns it, nil if there was none.
func (ch *channel) removeConsumer(tag string) *consumer {
	ch.c.out.mu.Lock()
	defer ch.c.out.mu.Unlock()
	k := ch.consumers[tag]
	delete(ch.consumers, tag)
	return k
}

// cancel ends a consumer; an unknown one counts as ended.
func (ch *channel) cancel(m *amqpwire.BasicCancel) {
	if k := ch.removeConsumer(m.ConsumerTag); k != nil {
		k.cancel()
		if ch.replies == k {
			ch.replies = nil
		}
	}
	if !m.NoWait {
		ch.reply(&amqpwire.BasicCancelOk{ConsumerTag: m.ConsumerTag})
	}
}

// Deliver implements shard.Sink.
func (c *conn) Deliver(ds []shard.Delivery) {
	c.Gather(ds)
	c.out.signal()
}

// Gather implements shard.Output: it appends encoded deliveries to the output. It runs on
// goroutines of the engine.
func (c *conn) Gather(ds []shard.Delivery) {
	o := &c.out
	o.mu.Lock()
	if !o.ended && o.buf == nil {
		o.buf = outBuffers.Get().(*outBuffer)
	}
	encoded, now := 0, int64(-1)
	for i := range ds {
		d := &ds[i]
		k := d.Consumer.Data.(*consumer)
		ch := k.ch
		if d.Queue == nil && ch.consumers[k.tag] != k {
			continue // a reply that was sent while its consumer ended
		}
		ch.tag++
		ch.handedOut.count(k.noAck, d.Redelivered)
		if !k.noAck {
			if now < 0 {
				now = c.acks.now()
			}
			ch.push(delivery{tag: ch.tag, handle: d.Handle, queue: d.Queue, consumer: d.Consumer}, now, c.srv.limitOf(d.Queue, k.timeout))
		}
		if o.ended {
			continue
		}
		before := len(o.buf.b)
		var props []byte
		if d.Consumer.Reads() {
			props = o.withOffset(d)
		}
		o.buf.b = amqpwire.AppendDeliverWith(o.buf.b, ch.id, k.tag, ch.tag, d.Redelivered, envelope(d), props, c.frameMax)
		encoded += len(o.buf.b) - before
	}
	if encoded > 0 {
		o.size.Add(int64(encoded))
		o.windowed += encoded
		o.window.Add(encoded)
	}
	o.mu.Unlock()
}

// Cancelled implements shard.Sink: the consumer's queue is gone.
func (c *conn) Cancelled(bc *shard.Consumer) {
	k := bc.Data.(*consumer)
	o := &c.out
	o.mu.Lock()
	if k.ch.consumers[k.tag] == k {
		delete(k.ch.consumers, k.tag)
		k.ch.cancelled = append(k.ch.cancelled, k.tag)
		k.ch.notifyCancelledLocked()
	}
	o.mu.Unlock()
	o.signal()
}

// notifyCancelledLocked tells the client which of its consumers are gone, unless a queue.delete of
// the same channel has not been answered: clients that wait for delete-ok mistake an earlier cancel
// for a failure. The caller holds output.mu.
func (ch *channel) notifyCancelledLocked() {
	if ch.deleting {
		return
	}
	if ch.c.peer.cancelNotify {
		for _, tag := range ch.cancelled {
			ch.c.out.addLocked(func(dst []byte) []byte {
				return amqpwire.AppendMethodFrame(dst, ch.id, &amqpwire.BasicCancel{ConsumerTag: tag, NoWait: true})
			})
		}
	}
	ch.cancelled = nil
}

// get answers basic.get.
func (ch *channel) get(m *amqpwire.BasicGet) error {
	name, err := ch.queueName(m.Queue)
	if err != nil {
		return err
	}
	d, left, ok, err := ch.c.session.GetOn(int(ch.id), name, m.NoAck)
	if err != nil {
		return ch.ofStream(err, "basic.get", name)
	}
	if !ok {
		ch.counts.GotNone++
		ch.reply(&amqpwire.BasicGetEmpty{})
		return nil
	}
	ch.countGot(&d, m.NoAck)
	ch.sendGetOk(&d, uint32(left), m.NoAck)
	return nil
}

func (ch *channel) sendGetOk(d *shard.Delivery, left uint32, noAck bool) {
	ch.addGetOk(d, left, noAck)
	ch.c.answered()
	ch.c.awaitRoom()
}

func (ch *channel) addGetOk(d *shard.Delivery, left uint32, noAck bool) {
	o := &ch.c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	ch.tag++
	if !noAck {
		ch.push(delivery{tag: ch.tag, handle: d.Handle, queue: d.Queue}, ch.c.acks.now(), ch.c.srv.limitOf(d.Queue, -1))
	}
	o.addLocked(func(dst []byte) []byte {
		return amqpwire.AppendGetOk(dst, ch.id, ch.tag, d.Redelivered, left, envelope(d), ch.c.frameMax)
	})
}

// sendReturn returns a mandatory message that reached no queue to the client.
func (ch *channel) sendReturn(env message.Envelope) {
	c := ch.c
	c.out.add(func(dst []byte) []byte {
		return amqpwire.AppendReturn(dst, ch.id, amqpcode.NoRoute, amqpcode.Name(amqpcode.NoRoute), env, c.frameMax)
	})
	c.answered()
	c.awaitRoom()
}
