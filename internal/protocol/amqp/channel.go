package amqp

import (
	"crypto/rand"
	"encoding/base64"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// channel is one channel of a connection. Its fields belong to the reader unless they are marked
// otherwise.
type channel struct {
	c  *conn
	id uint16

	closing   bool // channel.close was sent: only close and close-ok are handled
	content   content
	lastQueue string // the queue that "" stands for
	prefetch  int    // of later consumers, 0: no limit
	limit     *shard.Limit
	replies   *consumer // of direct replies, nil if there is none
	tx        *transaction
	confirms  *confirms              // nil unless in confirm mode
	published uint64                 // number of the last publish in confirm mode
	counts    protocol.ChannelCounts // without deliveries and confirms, which other goroutines count
	shown     shown                  // has its own lock

	tag       uint64               // guarded by output.mu: the last delivery tag
	unacked   unacked              // guarded by output.mu
	tookBack  tookBack             // guarded by output.mu
	consumers map[string]*consumer // guarded by output.mu: by tag
	deleting  bool                 // guarded by output.mu: cancels wait in cancelled until queue.delete is answered
	cancelled []string             // guarded by output.mu: tags
	handedOut handedOut            // guarded by output.mu
}

// openChannel opens a channel.
func (c *conn) openChannel(id uint16) error {
	if len(c.channels) >= c.channelMax {
		f := faultf(amqpcode.NotAllowed, "number of channels opened (%d) has reached the negotiated channel_max (%d)", len(c.channels), c.channelMax)
		f.bare = true
		return f
	}
	if err := c.session.OpenChannel(); err != nil {
		f := faultOf(err)
		f.bare = true
		return f
	}
	if c.channels == nil {
		c.channels = map[uint16]*channel{}
	}
	ch := &channel{c: c, id: id}
	c.channels[id] = ch
	c.srv.channels.Add(1)
	c.roster.enter(ch)
	c.sendOn(id, &amqpwire.ChannelOpenOk{})
	return nil
}

// endChannel removes the channel from the engine: its consumers are cancelled, and unsettled
// deliveries are ready again. The frame that tells the client follows, on an id that is free or
// waits for close-ok.
func (c *conn) endChannel(ch *channel) {
	if ch.closing {
		return
	}
	c.doRequests()
	ch.closing = true
	c.srv.channels.Add(-1)
	c.roster.leave(ch)
	c.session.CloseChannel()
	ch.cancelAll()
	if ch.tx != nil {
		ch.takeBack()
	}
	ch.requeueAll()
	c.session.Flush()
	ch.content.drop(c.srv)
	ch.endConfirms()
	ch.tx, ch.replies = nil, nil
}

// cancelAll removes the channel's consumers from the engine.
func (ch *channel) cancelAll() {
	ch.c.out.mu.Lock()
	consumers := ch.consumers
	ch.consumers = nil
	ch.c.out.mu.Unlock()
	for _, k := range consumers {
		k.cancel()
	}
}

// removeChannel frees the id.
func (c *conn) removeChannel(ch *channel) {
	delete(c.channels, ch.id)
	if c.last == ch {
		c.last = nil
	}
}

// fail closes the channel from the server's side.
func (ch *channel) fail(f *fault) {
	c := ch.c
	c.srv.o.Log.Debug("amqp: closing a channel", "conn", c.id, "channel", ch.id, "reason", f.Error(), "method", f.method)
	c.emitSettled()
	c.endChannel(ch)
	c.sendOn(ch.id, &amqpwire.ChannelClose{
		ReplyCode: f.code, ReplyText: f.Error(), ClassID: f.method.Class(), MethodID: f.method.Method(),
	})
}

// frame handles a frame of the channel.
func (ch *channel) frame(f amqpwire.Frame) error {
	if ch.closing {
		ch.closingFrame(f)
		return nil
	}
	switch f.Type {
	case amqpwire.FrameBody:
		return ch.c.unlessAlarm(ch.contentBody(f.Payload))
	case amqpwire.FrameHeader:
		return ch.c.unlessAlarm(ch.contentHeader(f.Payload))
	case amqpwire.FrameHeartbeat:
		return unexpectedFrame(f)
	}
	if ch.content.stage != noContent {
		return ch.content.unexpected()
	}
	id, args, err := amqpwire.SplitMethod(f.Payload)
	if err != nil {
		return err
	}
	switch id { // the frequent methods, without an allocation
	case amqpwire.IDBasicPublish:
		return ch.beginPublish(args)
	case amqpwire.IDBasicAck:
		var m amqpwire.BasicAck
		if err := m.Decode(args); err != nil {
			return err
		}
		return ch.settle(ack, m.DeliveryTag, m.Multiple)
	}
	ch.c.emitSettled()
	ch.c.doRequests()
	m, err := amqpwire.DecodeMethod(f.Payload)
	if err != nil {
		return err
	}
	return ch.method(m)
}

// closingFrame handles a frame after channel.close was sent.
func (ch *channel) closingFrame(f amqpwire.Frame) {
	if f.Type != amqpwire.FrameMethod {
		return
	}
	switch id, _, _ := amqpwire.SplitMethod(f.Payload); id {
	case amqpwire.IDChannelCloseOk:
		ch.c.removeChannel(ch)
	case amqpwire.IDChannelClose:
		ch.reply(&amqpwire.ChannelCloseOk{})
	}
}

// reply sends a method on the channel.
func (ch *channel) reply(m amqpwire.Method) { ch.c.sendOn(ch.id, m) }

// answer sends the answer to a method, unless the client asked for none.
func (ch *channel) answer(noWait bool, m amqpwire.Method, err error) error {
	if err == nil && !noWait {
		ch.reply(m)
	}
	return err
}

// method handles all methods that frame does not handle itself.
func (ch *channel) method(m amqpwire.Method) error {
	switch m := m.(type) {
	case *amqpwire.ChannelOpen:
		return faultf(amqpcode.ChannelError, "second 'channel.open' seen")
	case *amqpwire.ChannelClose:
		ch.c.endChannel(ch)
		ch.reply(&amqpwire.ChannelCloseOk{})
		ch.c.removeChannel(ch)
	case *amqpwire.ChannelFlow:
		if !m.Active {
			return faultf(amqpcode.NotImplemented, "active=false")
		}
		ch.reply(&amqpwire.ChannelFlowOk{Active: true})
	case *amqpwire.AccessRequest:
		ch.reply(&amqpwire.AccessRequestOk{Ticket: 1})

	case *amqpwire.ExchangeDeclare:
		return ch.answer(m.NoWait, &amqpwire.ExchangeDeclareOk{}, ch.declareExchange(m))
	case *amqpwire.ExchangeDelete:
		return ch.answer(m.NoWait, &amqpwire.ExchangeDeleteOk{}, ch.c.session.DeleteExchange(stripLineEnds(m.Exchange), m.IfUnused))
	case *amqpwire.ExchangeBind:
		return ch.answer(m.NoWait, &amqpwire.ExchangeBindOk{}, ch.c.session.Bind(
			exchangeBinding(m.Source, m.Destination, m.RoutingKey, m.Arguments)))
	case *amqpwire.ExchangeUnbind:
		return ch.answer(m.NoWait, &amqpwire.ExchangeUnbindOk{}, ch.c.session.Unbind(
			exchangeBinding(m.Source, m.Destination, m.RoutingKey, m.Arguments)))

	case *amqpwire.QueueDeclare:
		return ch.declareQueue(m)
	case *amqpwire.QueueBind:
		return ch.answer(m.NoWait, &amqpwire.QueueBindOk{}, ch.bindQueue(m))
	case *amqpwire.QueueUnbind:
		return ch.answer(false, &amqpwire.QueueUnbindOk{}, ch.unbindQueue(m))
	case *amqpwire.QueuePurge:
		return ch.purgeQueue(m)
	case *amqpwire.QueueDelete:
		return ch.deleteQueue(m)

	case *amqpwire.BasicQos:
		return ch.qos(m)
	case *amqpwire.BasicConsume:
		return ch.consume(m)
	case *amqpwire.BasicCancel:
		ch.cancel(m)
	case *amqpwire.BasicCancelOk: // to a cancel that the server sent
	case *amqpwire.BasicGet:
		return ch.get(m)
	case *amqpwire.BasicReject:
		return ch.settle(refusal(m.Requeue), m.DeliveryTag, false)
	case *amqpwire.BasicNack:
		return ch.settle(refusal(m.Requeue), m.DeliveryTag, m.Multiple)
	case *amqpwire.BasicRecover:
		return ch.answer(false, &amqpwire.BasicRecoverOk{}, ch.recover(m.Requeue))
	case *amqpwire.BasicRecoverAsync:
		return ch.recover(m.Requeue)

	case *amqpwire.ConfirmSelect:
		return ch.answer(m.NoWait, &amqpwire.ConfirmSelectOk{}, ch.selectConfirms())
	case *amqpwire.TxSelect:
		return ch.answer(false, &amqpwire.TxSelectOk{}, ch.selectTx())
	case *amqpwire.TxCommit:
		return ch.answer(false, &amqpwire.TxCommitOk{}, ch.commit())
	case *amqpwire.TxRollback:
		return ch.answer(false, &amqpwire.TxRollbackOk{}, ch.rollback())
	default:
		return faultf(amqpcode.CommandInvalid, "unimplemented method")
	}
	return nil
}

func (ch *channel) selectConfirms() error {
	if ch.tx != nil {
		return faultf(amqpcode.PreconditionFailed, "cannot switch from tx to confirm mode")
	}
	if ch.confirms == nil {
		ch.confirms = newConfirms(ch)
	}
	return nil
}

// qos sets the prefetch of later consumers, or of the whole channel.
func (ch *channel) qos(m *amqpwire.BasicQos) error {
	if m.PrefetchSize != 0 {
		return faultf(amqpcode.NotImplemented, "prefetch_size!=0 (%d)", m.PrefetchSize)
	}
	ch.reply(&amqpwire.BasicQosOk{}) // before a raised limit lets deliveries out
	if m.Global {
		ch.c.session.SetLimit(ch.sharedLimit(), int(m.PrefetchCount))
	} else {
		ch.prefetch = int(m.PrefetchCount)
		if ch.limit != nil { // setting either kind later ends the limit of the whole channel, as in RabbitMQ
			ch.c.session.SetLimit(ch.limit, 0)
		}
	}
	return nil
}

// sharedLimit returns the limit of all consumers of the channel together. Consumers get it when
// they start, so that a later basic.qos affects them.
func (ch *channel) sharedLimit() *shard.Limit {
	if ch.limit == nil {
		ch.limit = shard.NewLimit(0)
	}
	return ch.limit
}

// randomName returns the prefix followed by 22 unguessable characters.
func randomName(prefix string) string {
	var random [16]byte
	rand.Read(random[:]) //nolint:errcheck // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(random[:])
}
