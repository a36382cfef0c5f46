package firehose

import (
	"math"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
)

// Of returns the broker.Options.Tap of a node of that name.
func Of(node string) func(*shard.Tapped) message.Envelope {
	return func(t *shard.Tapped) message.Envelope { return envelope(node, t) }
}

func envelope(node string, t *shard.Tapped) message.Envelope {
	exchange, _, _, body := t.Env.Split()
	key := "publish." + string(exchange)
	if t.HandedOut {
		key = "deliver." + t.Queue
	}
	key = key[:min(len(key), message.MaxShortStr)] // the names may be as long as a key by themselves
	p := message.Properties{Flags: message.HasHeaders, Headers: headers(node, t)}
	props := p.Append(nil)
	env := make([]byte, 0, message.EnvelopeSize(len(routing.Tap), len(key), len(props), len(body)))
	return append(message.AppendEnvelopeHeader(env, routing.Tap, key, props), body...)
}

// headers are in the order that RabbitMQ gives them.
func headers(node string, t *shard.Tapped) message.Table {
	exchange, key, props, _ := t.Env.Split()
	p, err := message.DecodeProperties(props)
	if err != nil {
		p = message.Properties{} // nested too deep, for instance
	}
	h := message.Table{
		{Name: "exchange_name", Value: string(exchange)},
		{Name: "routing_keys", Value: keys(key, &p, t.Also)},
		{Name: "properties", Value: properties(&p)},
		{Name: "node", Value: node},
	}
	if t.HandedOut {
		redelivered := int32(0)
		if t.Redelivered {
			redelivered = 1
		}
		h = append(h, message.Field{Name: "redelivered", Value: redelivered})
	}
	h = append(h,
		message.Field{Name: "vhost", Value: t.VHost},
		message.Field{Name: "connection", Value: t.Client},
		message.Field{Name: "channel", Value: int32(t.Channel)},
		message.Field{Name: "user", Value: t.User},
	)
	if !t.HandedOut {
		h = append(h, message.Field{Name: "routed_queues", Value: texts(t.Queues)})
	}
	return h
}

// keys are the routing key and those that the sender named beside it: also, or those in the
// headers.
func keys(key []byte, p *message.Properties, also [][]byte) message.Array {
	all := message.Array{string(key)}
	for _, k := range also {
		all = append(all, string(k))
	}
	if also == nil {
		cc, _ := p.Headers.Get("CC")
		list, _ := cc.(message.Array)
		for _, k := range list {
			if s, ok := k.(string); ok {
				all = append(all, s)
			}
		}
	}
	return all
}

func texts(names []string) message.Array {
	all := message.Array{}
	for _, name := range names {
		all = append(all, name)
	}
	return all
}

// properties are those that are set, the last first, as in RabbitMQ.
func properties(p *message.Properties) message.Table {
	t := message.Table{}
	add := func(has message.PropertyFlags, name string, v any) {
		if p.Has(has) {
			t = append(t, message.Field{Name: name, Value: v})
		}
	}
	add(message.HasClusterID, "cluster_id", p.ClusterID)
	add(message.HasAppID, "app_id", p.AppID)
	add(message.HasUserID, "user_id", p.UserID)
	add(message.HasType, "type", p.Type)
	add(message.HasTimestamp, "timestamp", timestamp(p.Timestamp))
	add(message.HasMessageID, "message_id", p.MessageID)
	add(message.HasExpiration, "expiration", p.Expiration)
	add(message.HasReplyTo, "reply_to", p.ReplyTo)
	add(message.HasCorrelationID, "correlation_id", p.CorrelationID)
	add(message.HasPriority, "priority", int32(p.Priority))
	add(message.HasDeliveryMode, "delivery_mode", int32(p.DeliveryMode))
	add(message.HasHeaders, "headers", p.Headers)
	add(message.HasContentEncoding, "content_encoding", p.ContentEncoding)
	add(message.HasContentType, "content_type", p.ContentType)
	return t
}

// timestamp is a number of 32 bits, as in RabbitMQ, where it fits.
func timestamp(ts message.Timestamp) any {
	if ts > math.MaxInt32 {
		return int64(ts)
	}
	return int32(ts)
}
