package amqp

import (
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

// envelope returns the message as the consumer gets it. If the queue counts deliveries, a header
// has the number of times that the message was returned. The stored message does not change.
func envelope(d *shard.Delivery) message.Envelope {
	if d.Count == 0 || !d.Queue.Policy().CountDeliveries {
		return d.Env
	}
	exchange, key, rawProps, body := d.Env.Split()
	props, err := message.DecodeProperties(rawProps)
	if err != nil {
		return d.Env
	}
	props.Headers.Set("x-delivery-count", int64(d.Count))
	props.Flags |= message.HasHeaders
	raw := props.Append(nil)
	env := message.AppendEnvelopeHeader(make([]byte, 0, len(d.Env)+len(raw)-len(rawProps)), exchange, key, raw)
	return append(env, body...)
}
