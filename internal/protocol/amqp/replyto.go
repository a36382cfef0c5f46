package amqp

import (
	"bytes"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// Direct replies (RabbitMQ's direct reply-to): a client consumes replyQueue and publishes requests
// with it as reply-to, which the server replaces by the name of the client's mailbox; a replier
// publishes to that name on the default exchange. Such replies are volatile: delivered at once or
// lost.
const (
	replyQueue  = amqpcode.ReplyQueue
	replyPrefix = amqpcode.ReplyPrefix
)

// consumeReplies starts the channel's consumer of direct replies.
func (ch *channel) consumeReplies(m *amqpwire.BasicConsume, k *consumer) error {
	switch {
	case !m.NoAck:
		return faultf(amqpcode.PreconditionFailed, "reply consumer cannot acknowledge")
	case ch.replies != nil:
		return faultf(amqpcode.PreconditionFailed, "reply consumer already set")
	}
	name, bc, err := ch.c.session.OpenMailbox(shard.ConsumerSpec{Tag: k.tag, NoAck: true, Data: k})
	if err != nil {
		return err
	}
	k.c, k.mailbox = bc, name
	ch.replies = k
	ch.addConsumer(k)
	if !m.NoWait {
		ch.reply(&amqpwire.BasicConsumeOk{ConsumerTag: k.tag})
	}
	return nil
}

// errNoReplies is returned for a request whose channel has no consumer of direct replies.
var errNoReplies = faultf(amqpcode.PreconditionFailed, "fast reply consumer does not exist")

// isReplyName reports whether a queue's name stands for direct replies.
func isReplyName(name string) bool { return name == replyQueue || strings.HasPrefix(name, replyPrefix) }

// hasReplyName reports whether such a name has a mailbox. The generic name always exists.
func (ch *channel) hasReplyName(name string) bool {
	if name == replyQueue {
		return true
	}
	return ch.c.srv.broker.HasMailbox(strings.TrimPrefix(name, replyPrefix))
}

// publishReply ends the publish of a direct reply that goes to no queue. It counts as routed, with
// or without a receiver.
func (ch *channel) publishReply(key, props, body []byte) {
	if s := ch.c.session; s.Tapped() {
		s.TapPublish(int(ch.id), ch.c.envelope(nil, key, props, body), nil, shard.Targets{})
	}
	ch.confirmNow(true)
}

// postReplies hands a message on the default exchange to the mailboxes that its keys name, to each
// once.
func (c *conn) postReplies(key []byte, also [][]byte, props, body []byte) {
	if isReplyKey(key) {
		c.postReply(key, key, props, body)
	}
	for i, more := range also {
		again := func(k []byte) bool { return bytes.Equal(k, more) }
		if isReplyKey(more) && !again(key) && !slices.ContainsFunc(also[:i], again) {
			c.postReply(more, key, props, body)
		}
	}
}

// postReply hands a message with a routing key to the mailbox of a direct reply.
func (c *conn) postReply(name, key, props, body []byte) {
	env := make([]byte, 0, message.EnvelopeSize(0, len(key), len(props), len(body)))
	env = append(message.AppendEnvelopeHeader(env, nil, key, props), body...)
	c.session.Post(string(name[len(replyPrefix):]), env)
}
