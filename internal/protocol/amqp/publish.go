package amqp

import (
	"encoding/binary"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

// arenaChunk is the size of the chunks that hold the envelopes of one read. A message that stays
// keeps its whole chunk, so it is not larger.
const arenaChunk = 16 << 10

// arena allocates the envelopes of one read. It is dropped at the end of the read; the engine keeps
// the envelopes.
type arena struct{ free []byte }

// take returns an empty slice with room for n bytes. ahead is how many bytes of the read are not
// parsed yet, an upper bound of what will be needed.
func (a *arena) take(n, ahead int) []byte {
	if n > len(a.free) {
		if n > arenaChunk/4 {
			return make([]byte, 0, n)
		}
		a.free = make([]byte, min(n+ahead, arenaChunk))
	}
	b := a.free[:0:n]
	a.free = a.free[n:]
	return b
}

// envelope builds the envelope of a message in the arena.
func (c *conn) envelope(exchange, key, props, body []byte) message.Envelope {
	n := message.EnvelopeSize(len(exchange), len(key), len(props), len(body))
	env := c.arena.take(n, len(c.in.Pending()))
	return append(message.AppendEnvelopeHeader(env, exchange, key, props), body...)
}

// publish checks, routes and publishes the channel's content, in RabbitMQ's
// order of checks. body is its body unless the content owns it.
func (ch *channel) publish(body []byte) error {
	c, ct := ch.c, &ch.content
	exchange, key, props := ct.exchange, ct.key, ct.props
	env := message.Envelope(ct.env)
	if env != nil {
		exchange, key, props, body = env.Split()
		ct.peek, _ = message.PeekProperties(props) // checked at the header frame
	}
	peek := &ct.peek
	peek.Body = body
	if len(exchange) == 0 && string(key) == semaphoreQueue && c.srv.o.Semaphores != nil {
		return ch.request(peek)
	}
	var extra extraKeys
	var marked marks
	if len(peek.Headers) > 0 {
		if marked = readMarks(peek.Headers); marked&markKeys != 0 {
			extra = readExtraKeys(peek.Headers)
		}
	}
	direct := len(exchange) == 0 && isReplyKey(key)
	targets, err := c.route(direct && extra.keys == nil, exchange, key, peek, extra.keys)
	if err != nil {
		return err
	}
	ch.counts.Published++
	replies := string(peek.ReplyTo) == replyQueue
	if replies && ch.replies == nil {
		return errNoReplies
	}
	if err := c.checkUserID(peek); err != nil {
		return err
	}
	noQueue := ct.mandatory && targets.Buffered() && !c.session.Reaches(exchange, key, peek, extra.keys)
	if noQueue && !targets.OnlyCopied() {
		targets = shard.Targets{} // no queue would get it with the current bindings
	}
	p := &c.pub
	p.TTL, p.NotBefore, p.Told = -1, 0, true
	if peek.Expiration != nil {
		if p.TTL, err = expiration(peek.Expiration); err != nil {
			return err
		}
	}
	if extra.err != nil {
		return extra.err
	}
	if marked&markNotBefore != 0 {
		if p.NotBefore, err = notBefore(peek.Headers); err != nil {
			return err
		}
	}
	if err := checkDeliveryMode(peek, props); err != nil {
		return err
	}
	if replies || extra.blind {
		if props, err = ch.rewrite(props, replies, extra.blind); err != nil {
			return err
		}
		env = nil
	}
	if len(exchange) == 0 {
		c.postReplies(key, extra.keys, props, body)
	}
	if direct && targets.Empty() {
		ch.publishReply(key, props, body)
		return nil
	}
	late := ch.tx != nil && (len(exchange) == 0 || !targets.Empty()) // its queues are found at the commit
	tapped := c.session.Tapped()
	if env == nil && (ct.mandatory || late || tapped || !targets.Empty()) {
		env = c.envelope(exchange, key, props, body)
	}
	if tapped {
		c.session.TapPublish(int(ch.id), env, extra.keys, targets)
	}
	if targets.Empty() && !late {
		return ch.unroutable(env, peek.Persistent())
	}
	if noQueue { // although an exchange keeps a copy
		if err := ch.giveBack(env); err != nil {
			return err
		}
	}
	p.Targets, p.Env, p.Persistent, p.Priority = targets, env, peek.Persistent(), peek.Priority
	switch {
	case ch.tx != nil:
		return ch.txPublish(p)
	case ch.confirms != nil:
		ch.published++
		p.Confirm, p.Seq = ch.confirms, ch.published
		if n := targets.Parts(); n > 1 {
			ch.confirms.expect(p.Seq, n)
		}
	default:
		p.Confirm, p.Seq = nil, 0
	}
	c.awaitTurn(p)
	c.session.Publish(p)
	return nil
}

// route finds the queues of a message. One that is only a direct reply has none: route
// then checks the permission.
func (c *conn) route(direct bool, exchange, key []byte, peek *message.Peek, also [][]byte) (shard.Targets, error) {
	if direct {
		return shard.Targets{}, c.session.MayPublish(exchange)
	}
	return c.session.Route(exchange, key, peek, also)
}

// checkUserID refuses a message whose user-id is another user.
func (c *conn) checkUserID(peek *message.Peek) error {
	if peek.UserID != nil && string(peek.UserID) != c.user && !c.session.Impersonates() {
		return faultf(amqpcode.PreconditionFailed, "user_id property set to '%s' but authenticated user was '%s'", peek.UserID, c.user)
	}
	return nil
}

// checkDeliveryMode refuses values other than transient and persistent.
func checkDeliveryMode(peek *message.Peek, props []byte) error {
	set := message.PropertyFlags(binary.BigEndian.Uint16(props))&message.HasDeliveryMode != 0
	if !set || peek.DeliveryMode == message.Transient || peek.DeliveryMode == message.Persistent {
		return nil
	}
	return faultf(amqpcode.PreconditionFailed, "invalid message: {delivery_mode_unknown,%d}", peek.DeliveryMode)
}

// unroutable ends a publish that reaches no queue. The message is returned to the client if it is
// mandatory. It is confirmed in any case; a persistent one as soon as it is durable that no queue
// gets it.
func (ch *channel) unroutable(env message.Envelope, persistent bool) error {
	if ch.content.mandatory {
		ch.counts.Returned++
		if err := ch.giveBack(env); err != nil {
			return err
		}
	} else {
		ch.counts.Dropped++
	}
	if ch.confirms != nil {
		ch.confirmNow(!persistent || ch.c.session.AwaitRemovals() == nil)
	}
	return nil
}

// giveBack returns a message to its sender: in a transaction at the commit.
func (ch *channel) giveBack(env message.Envelope) error {
	if ch.tx != nil {
		return ch.tx.add(ch.c.srv, txPost{Publish: shard.Publish{Env: env}, lost: true})
	}
	ch.sendReturn(env)
	return nil
}

// confirmNow confirms (or, without ok, rejects) a publish that does not go to the engine.
func (ch *channel) confirmNow(ok bool) {
	if ch.confirms != nil {
		ch.published++
		ch.confirms.Confirmed(ch.published, ch.published, ok)
	}
}

// isReplyKey is isReplyName for routing keys.
func isReplyKey(key []byte) bool {
	return len(key) > len(replyPrefix) && string(key[:len(replyPrefix)]) == replyPrefix
}

// extraKeys holds the additional routing keys that the sender chose (headers CC and BCC).
type extraKeys struct {
	keys  [][]byte
	blind bool  // there is a BCC header, which consumers must not see
	err   error // a header has the wrong type
}

func readExtraKeys(headers []byte) extraKeys {
	var x extraKeys
	for _, name := range []string{"CC", "BCC"} {
		v, ok := message.HeaderLookup(headers, name)
		if !ok {
			continue
		}
		list, ok := v.(message.Array)
		if !ok {
			x.err = faultf(amqpcode.PreconditionFailed, "invalid message: {unacceptable_type_in_header,\"%s\",%s}", name, message.TypeName(v))
			return x
		}
		for _, item := range list {
			key, ok := item.(string)
			if !ok {
				continue // RabbitMQ ignores it too
			}
			x.keys = append(x.keys, []byte(key))
		}
		x.blind = x.blind || name == "BCC"
	}
	return x
}

// rewrite changes properties that consumers must not see as they were sent: it inserts the name of
// the reply queue and removes BCC.
func (ch *channel) rewrite(props []byte, replies, blind bool) ([]byte, error) {
	p, err := message.DecodeProperties(props)
	if err != nil {
		return nil, faultf(amqpcode.SyntaxError, "%v", err)
	}
	if replies {
		p.ReplyTo = replyPrefix + ch.replies.mailbox
	}
	if blind {
		p.Headers.Delete("BCC")
	}
	return p.Append(nil), nil
}
