package messages

import (
	"context"
	"errors"
	"net/http"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/loans"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// single serves one message by its id: showing, deleting and moving it.
func (a *api) single() {
	const path = "/api/queues/{vhost}/{queue}/messages/{id}"
	a.Get(rest.Management, path, func(r *http.Request) (out any, err error) {
		err = a.at(r, func(_ context.Context, s *broker.Session, queueID uint64, b *inspect.Message) error {
			out = shownAs(queueID, b, -1)
			return nil
		})
		return out, err
	})
	a.Delete(rest.Management, path, func(r *http.Request) error {
		return a.at(r, func(ctx context.Context, s *broker.Session, _ uint64, b *inspect.Message) error {
			return settleOne(ctx, s, rest.Name(r, "queue"), b, nil)
		})
	})
	a.Handle(rest.Management, "POST "+path+"/move", func(r *http.Request) (rest.Answer, error) {
		var in Target
		if err := rest.Decode(r, &in); err != nil {
			return rest.Answer{}, err
		}
		err := a.at(r, func(ctx context.Context, s *broker.Session, _ uint64, b *inspect.Message) error {
			to, err := target(s, in.To)
			if err != nil {
				return err
			}
			p, err := republished(b.Env, to)
			if err != nil {
				return err
			}
			if b.Status == queue.Scheduled {
				p.NotBefore = b.Due
			}
			return settleOne(ctx, s, rest.Name(r, "queue"), b, p)
		})
		return rest.Answer{Status: http.StatusNoContent}, err
	})
}

var errNoMessage = rest.NotFound("there is no such message in the queue any more")

// at calls fn with the message that a path names.
func (a *api) at(r *http.Request, fn func(ctx context.Context, s *broker.Session, queueID uint64, b *inspect.Message) error) error {
	p, err := parsePlace(rest.Name(r, "id"))
	if err != nil {
		return err
	}
	return a.In(r, rest.Name(r, "vhost"), func(ctx context.Context, s *broker.Session) error {
		b, err := inspect.Browse(s, rest.Name(r, "queue"))
		if err != nil {
			return err
		}
		m, err := lookUp(b, p)
		if err != nil {
			return err
		}
		return fn(ctx, s, p.queue, &m)
	})
}

// lookUp returns the message at a position.
func lookUp(b *inspect.Browser, p place) (m inspect.Message, err error) {
	if p.queue != b.Queue().ID {
		return m, errNoMessage
	}
	b.After(p.handle - 1)
	page, err := b.Next(1)
	if err != nil {
		return m, err
	}
	if len(page) == 0 || page[0].Handle != p.handle {
		return m, errNoMessage
	}
	return page[0], nil
}

// settleOne removes one message from its queue. Unless instead is nil, it publishes instead in the
// same transaction.
func settleOne(ctx context.Context, s *broker.Session, queueName string, b *inspect.Message, instead *shard.Publish) error {
	now, over := context.WithCancel(ctx)
	over() // do not wait for the message's consumer
	d, ok, err := loans.Acquire(now, s, queueName, b.Handle, nil)
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() == nil:
		return heldBy(&b.Holder)
	case err != nil:
		return err
	case !ok:
		return errNoMessage
	}
	tx := s.NewTx()
	if instead != nil {
		tx.Publish(instead)
	}
	tx.Ack(d.Queue, nil, d.Handle, 1)
	if err = tx.Commit(); err != nil {
		s.Release(d.Queue, d.Handle, 1)
		s.FlushInline()
	}
	return err
}

// heldBy rejects a change of an unacked message.
func heldBy(h *inspect.Holder) error {
	reason := "a consumer has the message; it can be had when it comes back: when the consumer rejects it or closes its channel"
	switch {
	case h.Until != 0:
		reason = "the message is leased until " + timeText(h.Until) + "; it can be had when that is over, or nack it with its token"
	case h.Session != "":
		reason = "the consumer " + h.Consumer + " of connection " + h.Session + " has the message; it can be had when it comes back: when the consumer " +
			"rejects it or closes its channel"
	}
	return rest.Fail(http.StatusConflict, "unacked", reason)
}

// target returns the queue to which messages are moved.
func target(s *broker.Session, name string) (shard.Targets, error) {
	if name == "" {
		return shard.Targets{}, rest.BadRequest("to is missing: the name of a queue of the same virtual host")
	}
	return s.Into(name)
}

// republished returns a message of a queue in the form to be published to another, unchanged. Its
// own time to live starts anew.
func republished(env message.Envelope, to shard.Targets) (*shard.Publish, error) {
	peek, err := message.PeekProperties(env.Properties())
	if err != nil {
		return nil, err
	}
	ttl, err := timeToLive(&peek)
	if err != nil {
		ttl = -1 // the source queue accepted it despite an invalid value
	}
	return &shard.Publish{Targets: to, Env: env, Persistent: peek.Persistent(), Priority: peek.Priority, TTL: ttl, Reserved: true, MustArrive: true}, nil
}
