package main

import (
	"encoding/binary"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/message"
)

// consumer counts the messages of one or several queues on one channel.
type consumer struct {
	conn     *conn
	queues   []string
	noAck    bool
	prefetch uint16 // with acks only
	ackEvery uint64 // messages per ack, which is sent with the multiple bit
	args     message.Table
	arrived  func(n uint64) // called at the n-th message, from 1; may be nil

	got  atomic.Int64
	left uint64 // body bytes still to come
	n    uint64 // messages so far, which is also the delivery tag of the last one, since the consumer has its own channel
}

// start subscribes and puts the reader into the crew.
func (s *consumer) start(c *crew) error {
	if err := s.subscribe(); err != nil {
		return err
	}
	c.work(func() error {
		return s.conn.walk(s.visit, func() error {
			s.got.Store(int64(s.n))
			return nil
		})
	})
	return nil
}

// subscribe sends all consumes together and returns at once, since expect would discard deliveries
// that come between the answers.
func (s *consumer) subscribe() error {
	var flags byte
	if s.noAck {
		flags = 2
	} else if _, err := s.conn.call(1, basicQos, []byte{0, 0, 0, 0, byte(s.prefetch >> 8), byte(s.prefetch), 0}, basicQosOK); err != nil {
		return err
	}
	var frames []byte
	for _, q := range s.queues {
		args := append(appendShort(appendShort([]byte{0, 0}, q), ""), flags)
		frames = appendMethod(frames, 1, basicConsume, message.AppendTable(args, s.args))
	}
	_, err := s.conn.Write(frames)
	return err
}

func (s *consumer) visit(typ byte, payload []byte) error {
	switch typ {
	case frameMethod:
		return refusal(payload)
	case frameHeader:
		s.left = binary.BigEndian.Uint64(payload[4:])
	case frameBody:
		s.left -= uint64(len(payload))
	default:
		return nil
	}
	if s.left > 0 {
		return nil
	}
	s.n++
	if s.arrived != nil {
		s.arrived(s.n)
	}
	if !s.noAck && s.n%s.ackEvery == 0 {
		return s.ack(s.n)
	}
	return nil
}

// ack settles everything up to tag.
func (s *consumer) ack(tag uint64) error {
	_, err := s.conn.Write(appendMethod(nil, 1, basicAck, append(binary.BigEndian.AppendUint64(nil, tag), 1)))
	return err
}
