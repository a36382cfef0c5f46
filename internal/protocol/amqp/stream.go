package amqp

import (
	"errors"
	"fmt"
	"slices"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/amqperr"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/streams"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/declareargs"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// Arguments of the consumers of a stream, and headers of its messages.
const (
	offsetName    = "x-stream-offset" // where to begin; in a delivery: the message's offset
	filterArg     = "x-stream-filter"
	unfilteredArg = "x-stream-match-unfiltered"
	filterHeader  = "x-stream-filter-value"
)

// consumeStream starts a consumer that reads a stream. It must set a prefetch and acknowledge.
func (ch *channel) consumeStream(m *amqpwire.BasicConsume, spec shard.ConsumerSpec, rs string) (*shard.Consumer, error) {
	from, err := streamStart(m.Arguments, rs, ch.c.srv.broker.Now())
	if err != nil {
		return nil, err
	}
	admits, err := streamFilter(m.Arguments, rs)
	if err != nil {
		return nil, err
	}
	if wanted := spec.Selector; wanted != nil {
		filtered := admits
		admits = func(env message.Envelope) bool { return wanted.Match(env) && (filtered == nil || filtered(env)) }
		spec.Selector = nil
	}
	switch {
	case spec.Prefetch == 0:
		return nil, faultf(amqpcode.PreconditionFailed, "consumer prefetch count is not set for '%s'", rs)
	case m.NoAck:
		return nil, faultf(amqpcode.NotImplemented, "automatic acknowledgement not supported by stream queues %s", rs)
	case spec.Limit.Max() > 0:
		return nil, faultf(amqpcode.NotImplemented, "%s does not support global qos", rs)
	}
	spec.Limit, spec.Exclusive = nil, false // readers do not affect each other
	return streams.Consume(ch.c.session, spec, from, admits)
}

// streamStart reads x-stream-offset of basic.consume, at now in Unix ms.
func streamStart(args message.Table, rs string, now int64) (streams.Start, error) {
	v, ok := args.Get(offsetName)
	if !ok {
		return streams.Start{}, nil
	}
	words := map[string]streams.From{"first": streams.First, "last": streams.Last, "next": streams.Next}
	switch v := v.(type) {
	case message.Timestamp:
		return streams.Start{From: streams.AtTime, N: int64(min(uint64(v), declareargs.LatestTime/1000)) * 1000}, nil
	case string:
		if from, ok := words[v]; ok {
			return streams.Start{From: from}, nil
		}
		if ms, ok := declareargs.Age(v); ok {
			return streams.Start{From: streams.AtTime, N: now - ms}, nil
		}
	default:
		if n, ok := message.Int(v); ok {
			return streams.Start{From: streams.AtOffset, N: max(n, 0)}, nil
		}
	}
	return streams.Start{}, invalidArg(offsetName, rs, fmt.Sprintf("{invalid_stream_offset_arg,{%s,%s}}", message.TypeName(v), erlang(v)))
}

// erlang returns an argument's value in the notation of RabbitMQ's error texts.
func erlang(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("<<%q>>", s)
	}
	return fmt.Sprint(v)
}

// streamFilter reads the filter of a consumer, nil if it takes all messages. Its values are
// compared with the header x-stream-filter-value.
func streamFilter(args message.Table, rs string) (admits func(message.Envelope) bool, err error) {
	unfiltered := false
	if v, ok := args.Get(unfilteredArg); ok {
		if reason := declareargs.Bool(v, &unfiltered); reason != "" {
			return nil, invalidArg(unfilteredArg, rs, reason)
		}
	}
	v, ok := args.Get(filterArg)
	if !ok {
		return nil, nil
	}
	values, isList := v.(message.Array)
	if !isList {
		values = message.Array{v}
	}
	for _, v := range values {
		if _, ok := v.(string); !ok {
			return nil, invalidArg(filterArg, rs, declareargs.UnacceptableType(v))
		}
	}
	return func(env message.Envelope) bool {
		_, _, list, _ := env.Split()
		p, err := message.PeekProperties(list)
		if err != nil {
			return false
		}
		value, ok := message.HeaderLookup(p.Headers, filterHeader)
		if !ok {
			return unfiltered
		}
		s, ok := value.(string)
		return ok && slices.Contains(values, any(s))
	}, nil
}

// withOffset returns the properties of a stream's message for its reader, with its offset in a
// header. They are valid until the next call. The caller holds output.mu.
func (o *output) withOffset(d *shard.Delivery) []byte {
	_, _, own, _ := d.Env.Split()
	props, err := message.AppendWithLong(o.props[:0], own, offsetName, streams.OffsetOf(d.Handle))
	if err != nil {
		return own
	}
	o.props = props
	return props
}

// refuseReaders refuses a method for deliveries of stream readers, which can only be acknowledged.
// All of the deliveries are then unsettled again.
func (ch *channel) refuseReaders(taken []delivery, methods string) error {
	for _, d := range taken {
		if d.consumer != nil && d.consumer.Reads() {
			err := notOfStreams(methods, amqperr.Resource("queue", d.queue.Name, d.queue.VHost()))
			ch.c.out.mu.Lock()
			ch.unacked.putBack(taken)
			ch.c.out.mu.Unlock()
			return err
		}
	}
	return nil
}

// ofStream returns err, or RabbitMQ's error for a method that streams do not support.
func (ch *channel) ofStream(err error, method, queue string) error {
	if errors.Is(err, failure.ErrWrongKind) {
		return notOfStreams(method, amqperr.Resource("queue", queue, ch.c.session.VHost()))
	}
	return err
}

func notOfStreams(methods, rs string) *fault {
	return faultf(amqpcode.NotImplemented, "%s not supported by stream queues %s", methods, rs)
}
