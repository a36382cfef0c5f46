package lists

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

// Push adds messages to the end of a queue; with Front each to its head. Errors: ErrNoFront (the
// queue has no room before its head), ErrRejected (it is full).
type Push struct {
	broker.OnQueue
	Bodies    [][]byte // not retained
	Front     bool
	Create    bool // create a missing queue, durable
	MustExist bool // do nothing if no message is ready
	Len       int  // result: how many are ready afterwards

	envelopes []message.Envelope
	one       [1]message.Envelope // room for envelopes
}

// Find implements broker.Command.
func (p *Push) Find(f broker.Finder) (*shard.Queue, error) {
	q, err := f.ToPublish(p.Queue, p.Create)
	if err != nil {
		return nil, err
	}
	if p.envelopes = p.one[:0]; len(p.Bodies) > 1 {
		p.envelopes = make([]message.Envelope, 0, len(p.Bodies))
	}
	for _, body := range p.Bodies {
		p.envelopes = append(p.envelopes, bareEnvelope(p.Queue, body))
	}
	return q, nil
}

// EachBody calls fn with the sizes of what is published, for rate limits.
func (p *Push) EachBody(fn func(bytes int64)) {
	for _, body := range p.Bodies {
		fn(int64(len(body)))
	}
}

// Run implements broker.Command.
func (p *Push) Run(at shard.Context) (err error) {
	defer clear(p.envelopes)
	if p.Len = at.Deliveries().Ready(); p.MustExist && p.Len == 0 {
		return nil
	}
	for _, env := range p.envelopes {
		of := shard.Publish{Env: env, Persistent: true, TTL: -1}
		if err = publish(at, p.By(), &of, p.Front); err != nil {
			break
		}
	}
	p.Len = at.Deliveries().Ready()
	return err
}

// publish adds a message to an end of the queue.
func publish(at shard.Context, by *shard.Client, p *shard.Publish, front bool) error {
	if front {
		return at.PublishFront(by, p)
	}
	return at.Publish(by, p)
}

// bareProps are the properties of a message that consists of a body only: delivery-mode 2.
var bareProps = (&message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}).Append(nil)

// bareEnvelope returns the message that publishing a body to a queue through the default exchange
// makes.
func bareEnvelope(queueName string, body []byte) message.Envelope {
	env := make([]byte, 0, message.EnvelopeSize(0, len(queueName), len(bareProps), len(body)))
	return append(message.AppendEnvelopeHeader(env, "", queueName, bareProps), body...)
}
