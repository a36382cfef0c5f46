package amqp

import (
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/declareargs"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// stateHeader holds the state of the original in copies of messages.
const stateHeader = "x-state"

// wantsCopies reads x-browse of basic.consume: the consumer gets copies of the messages in the
// queue, which stay there.
func wantsCopies(m *amqpwire.BasicConsume, rs string) (bool, error) {
	const arg = "x-browse"
	v, ok := m.Arguments.Get(arg)
	if !ok {
		return false, nil
	}
	on := false
	reason := declareargs.Bool(v, &on)
	if reason == "" && on && !m.NoAck {
		reason = "browsing needs no_ack, for there is nothing to acknowledge"
	}
	if reason != "" {
		return false, invalidArg(arg, rs, reason)
	}
	return on, nil
}

// withState returns the message with its state in a header.
func withState(m *inspect.Message) message.Envelope {
	exchange, key, raw, body := m.Env.Split()
	props, err := message.DecodeProperties(raw)
	if err != nil {
		return m.Env
	}
	props.Headers.Set(stateHeader, m.Status.String())
	props.Flags |= message.HasHeaders
	raw = props.Append(nil)
	env := make([]byte, 0, message.EnvelopeSize(len(exchange), len(key), len(raw), len(body)))
	return append(message.AppendEnvelopeHeader(env, exchange, key, raw), body...)
}
