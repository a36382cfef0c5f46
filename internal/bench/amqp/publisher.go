package amqp

import (
	"context"
	"fmt"
	"time"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// publisher is a publishing connection.
type publisher struct {
	*conn
	run    *run
	window *window
	quota  uint64 // messages to send; 0 = until the run ends

	frames []byte // Options.Batch copies of one encoded message
	stride int    // bytes of one copy
	body   int    // offset of the body in a copy
	stamp  bool   // whether bodies have room for a stamp
}

func newPublisher(r *run, queue string, quota uint64) (*publisher, error) {
	c, err := dial(r.target)
	if err != nil {
		return nil, err
	}
	p := &publisher{conn: c, run: r, window: newWindow(r.Confirm), quota: quota, stamp: r.Size >= stampBytes}
	if r.Confirm > 0 {
		if _, err := c.call(channel, &amqpwire.ConfirmSelect{}, amqpwire.IDConfirmSelectOk); err != nil {
			c.Close()
			return nil, err
		}
	}
	p.encode(queue)
	return p, nil
}

// encode prepares the frames. The length of the message's head (method and content header) does not
// depend on the body, so a message without a body shows where the body begins.
func (p *publisher) encode(queue string) {
	properties := message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: message.Transient}
	if p.run.Persist {
		properties.DeliveryMode = message.Persistent
	}
	list := properties.Append(nil)
	const frameHeaderBytes = 7
	p.body = len(amqpwire.AppendPublish(nil, channel, "", queue, false, list, nil, p.frameMax)) + frameHeaderBytes
	one := amqpwire.AppendPublish(nil, channel, "", queue, false, list, make([]byte, p.run.Size), p.frameMax)
	p.stride = len(one)
	// Write large messages one or a few at a time: larger batches bring nothing and would need much
	// memory.
	const maxWriteBytes = 1 << 20
	for range min(p.run.Batch, maxWriteBytes/p.stride+1) {
		p.frames = append(p.frames, one...)
	}
}

// publish writes messages until the run ends or the quota is reached.
func (p *publisher) publish(ctx context.Context) error {
	timetable := pacer{perSecond: p.run.Rate / float64(p.run.Publishers)}
	paced := p.run.Rate > 0
	if paced {
		preciseThread()
	}
	due := make([]time.Duration, len(p.frames)/p.stride)
	for ctx.Err() == nil {
		n := len(due)
		if p.quota > 0 {
			n = int(min(uint64(n), p.quota-timetable.sent))
			if n == 0 {
				return nil
			}
		}
		if paced {
			now := p.run.now()
			if n = timetable.due(now, n); n == 0 {
				preciseSleep(min(timetable.next()-now, 100*time.Millisecond)) // to notice the end of the run
				continue
			}
		}
		if p.run.Confirm > 0 {
			if n = p.window.acquire(n); n == 0 {
				return nil
			}
		}
		now := p.run.now()
		for i := range n {
			due[i] = now
			if paced {
				due[i] = timetable.at(timetable.sent + uint64(i))
			}
			if p.stamp {
				putStamp(p.frames[i*p.stride+p.body:], p.run.id, due[i])
			}
		}
		if p.run.Confirm > 0 {
			p.window.sent(due[:n])
		}
		if _, err := p.Write(p.frames[:n*p.stride]); err != nil {
			return fmt.Errorf("amqp bench: publish: %w", err)
		}
		timetable.sent += uint64(n)
		p.run.sent.Add(uint64(n))
		p.run.checkDone()
	}
	return nil
}

// read reads confirms until the connection ends.
func (p *publisher) read() error {
	for {
		if err := p.fill(); err != nil {
			return err
		}
		now := p.run.now()
		for {
			f, ok, err := p.frame()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if f.Type != amqpwire.FrameMethod {
				continue
			}
			if ended, err := p.handle(f.Payload, now); ended || err != nil {
				return err
			}
		}
		p.run.checkDone()
	}
}

func (p *publisher) handle(payload []byte, now time.Duration) (ended bool, err error) {
	id, args, err := amqpwire.SplitMethod(payload)
	if err != nil {
		return false, err
	}
	switch id {
	case amqpwire.IDBasicAck:
		var m amqpwire.BasicAck
		if err := m.Decode(args); err != nil {
			return false, err
		}
		return false, p.settle(m.DeliveryTag, m.Multiple, true, now)
	case amqpwire.IDConnectionCloseOk:
		return true, nil
	}
	m, err := amqpwire.DecodeMethod(payload)
	if err != nil {
		return false, err
	}
	if m, ok := m.(*amqpwire.BasicNack); ok {
		return false, p.settle(m.DeliveryTag, m.Multiple, false, now)
	}
	return false, closed(m)
}

func (p *publisher) settle(tag uint64, multiple, ack bool, now time.Duration) error {
	n := p.window.settle(tag, multiple, ack, now)
	switch {
	case n == 0:
		return fmt.Errorf("amqp bench: the broker confirmed message %d, which does not wait for it", tag)
	case ack:
		p.run.confirmed.Add(uint64(n))
	default:
		p.run.nacked.Add(uint64(n))
	}
	return nil
}
