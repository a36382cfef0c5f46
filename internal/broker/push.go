package broker

import (
	"math"

	"fiveways/internal/core/message"
)

// Push puts messages into a queue, one behind the other; with Front each before the head.
type Push struct {
	OnQueue
	Bodies    [][]byte // not kept
	Front     bool
	Create    bool // a durable queue is made when there is none
	MustExist bool // nothing happens while no message is ready
	Len       int  // how many are ready then

	envelopes []message.Envelope
}

func (p *Push) Find(f Finder) (*Queue, error) {
	s := f.s
	q, err := s.writable(p.Queue, p.Create)
	if err != nil {
		return nil, err
	}
	p.envelopes = p.envelopes[:0]
	for _, body := range p.Bodies {
		p.envelopes = append(p.envelopes, bareEnvelope(p.Queue, body))
	}
	return q, nil
}

func (p *Push) Run(at Context) error {
	sh, q := at.sh, at.q
	defer clear(p.envelopes)
	if p.Len = q.state.Ready(); p.MustExist && p.Len == 0 {
		return nil
	}
	kind, err := q.end(p.Front)
	if err != nil {
		return err
	}
	for _, env := range p.envelopes {
		o := op{kind: kind, persistent: true, queue: q, env: env, ttl: -1}
		sh.tapPublish(p.on(), &o)
		if !sh.publish(&o) {
			p.Len = q.state.Ready()
			return q.rejected()
		}
		q.counts.Direct++
	}
	p.Len = q.state.Ready()
	return nil
}

// end is how a message is published at an end of the queue. Errors: ErrNoFront.
func (q *Queue) end(front bool) (opKind, error) {
	switch {
	case !front:
		return opPublish, nil
	case q.Policy().MaxPriority == math.MaxUint8:
		return 0, &Error{Err: ErrNoFront, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
	}
	return opPublishFront, nil
}

// rejected is the error of a queue that is full.
func (q *Queue) rejected() error {
	return &Error{Err: ErrRejected, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
}

// bareProps are the properties of a message of which nothing but the body is known: delivery-mode
// 2.
var bareProps = (&message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}).Append(nil)

// bareEnvelope is what publishing a body to a queue through the default exchange makes of it.
func bareEnvelope(queueName string, body []byte) message.Envelope {
	env := make([]byte, 0, message.EnvelopeSize(0, len(queueName), len(bareProps), len(body)))
	return append(message.AppendEnvelopeHeader(env, "", queueName, bareProps), body...)
}
