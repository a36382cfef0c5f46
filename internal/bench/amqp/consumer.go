package amqp

import (
	"fmt"
	"time"

	"fiveways.dev/fiveways/internal/bench/latency"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// consumer is a consuming connection.
type consumer struct {
	*conn
	run     *run
	latency latency.Histogram

	tag   uint64 // tag of the last complete delivery, and so their number
	acked uint64 // the last acknowledged tag
	left  uint64 // remaining bytes of the current body
	first bool   // whether the next body frame is the first of a body
	out   []byte // acks to write
}

func newConsumer(r *run, queue string) (*consumer, error) {
	c, err := dial(r.target)
	if err != nil {
		return nil, err
	}
	k := &consumer{conn: c, run: r}
	if !r.NoAck && r.Prefetch > 0 {
		_, err = c.call(channel, &amqpwire.BasicQos{PrefetchCount: uint16(r.Prefetch)}, amqpwire.IDBasicQosOk)
	}
	if err == nil {
		_, err = c.call(channel, &amqpwire.BasicConsume{Queue: queue, NoAck: r.NoAck}, amqpwire.IDBasicConsumeOk)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return k, nil
}

// read reads deliveries until the connection ends. Frames that arrived with basic.consume-ok are
// already in the buffer.
func (k *consumer) read() error {
	for {
		now, before := k.run.now(), k.tag
		for {
			f, ok, err := k.frame()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if ended, err := k.handle(f, now); ended || err != nil {
				return err
			}
		}
		if len(k.out) > 0 {
			if _, err := k.Write(k.out); err != nil {
				return fmt.Errorf("amqp bench: ack: %w", err)
			}
			k.out = k.out[:0]
		}
		if k.tag > before {
			k.run.received.Add(k.tag - before)
			k.run.checkDone()
		}
		if err := k.fill(); err != nil {
			return err
		}
	}
}

func (k *consumer) handle(f amqpwire.Frame, now time.Duration) (ended bool, err error) {
	switch f.Type {
	case amqpwire.FrameMethod:
		id, _, err := amqpwire.SplitMethod(f.Payload)
		switch {
		case err != nil:
			return false, err
		case id == amqpwire.IDBasicDeliver:
			return false, nil
		case id == amqpwire.IDConnectionCloseOk:
			return true, nil
		case id == amqpwire.IDBasicCancel:
			return false, fmt.Errorf("amqp bench: the broker cancelled the consumer; was the queue deleted?")
		}
		m, err := amqpwire.DecodeMethod(f.Payload)
		if err != nil {
			return false, err
		}
		return false, closed(m)
	case amqpwire.FrameHeader:
		_, size, _, err := amqpwire.ParseContentHeader(f.Payload)
		if err != nil {
			return false, err
		}
		k.left, k.first = size, true
	case amqpwire.FrameBody:
		if uint64(len(f.Payload)) > k.left {
			return false, fmt.Errorf("amqp bench: the broker sent %d bytes more than the message has", uint64(len(f.Payload))-k.left)
		}
		if k.first {
			if due, ok := readStamp(f.Payload, k.run.id); ok {
				k.latency.Record(now - due)
			}
			k.first = false
		}
		k.left -= uint64(len(f.Payload))
	default: // heartbeat
		return false, nil
	}
	if k.left == 0 {
		k.tag++
		if !k.run.NoAck && k.tag-k.acked >= uint64(k.run.AckEvery) {
			k.out = amqpwire.AppendAck(k.out, channel, k.tag, true)
			k.acked = k.tag
		}
	}
	return false, nil
}
