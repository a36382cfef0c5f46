package loads

import (
	"context"
	"errors"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/crash/history"
)

var limitedQueues = []string{"crash.one", "crash.two"}

// limited has consumers that return many messages, and consumers of the dead letters.
var limited = scenario{
	queues:  []string{limitedQueues[0], limitedQueues[1], history.DeadOf(limitedQueues[0]), history.DeadOf(limitedQueues[1])},
	declare: declareLimited,
	clients: []client{
		{name: "confirming", work: (*client).publishConfirmed, compose: toLimited, window: 10},
		{name: "returning", queue: limitedQueues[0], work: (*client).consumeAndReturn},
		{name: "returning2", queue: limitedQueues[1], work: (*client).consumeAndReturn},
		{name: "burying", queue: history.DeadOf(limitedQueues[0]), work: (*client).consumeTx},
		{name: "burying2", queue: history.DeadOf(limitedQueues[1]), work: (*client).consumeTx},
	},
	here: history.Limited, elsewhere: history.LimitedElsewhere,
	shows: showsDeaths,
}

func toLimited(c *client) outgoing { return c.direct(limitedQueues[c.rng.IntN(len(limitedQueues))]) }

// consumeAndReturn returns every second message and acknowledges the others. Now and then it waits
// for the confirm of a message to its own queue, which covers everything that it did before.
func (c *client) consumeAndReturn(ch *amqp.Channel) error {
	if err := ch.Confirm(false); err != nil {
		return err
	}
	return c.receive(ch, func(d amqp.Delivery, held []history.Event) ([]history.Event, error) {
		last := held[len(held)-1]
		switch {
		case c.rng.IntN(2) == 0:
			c.history.Add(history.Event{Kind: history.Requeued, Msg: last.Msg, Queue: last.Queue})
			if err := d.Nack(false, true); err != nil {
				return nil, err
			}
			held = held[:len(held)-1]
		case c.rng.IntN(10) == 0 || len(held) == prefetch:
			c.history.Add(held...)
			if err := d.Ack(true); err != nil {
				return nil, err
			}
			held = held[:0]
		}
		if c.rng.IntN(20) == 0 {
			return held, c.sync(ch)
		}
		return held, nil
	})
}

// sync publishes a message to the client's own queue and waits for the confirm.
func (c *client) sync(ch *amqp.Channel) error {
	m := c.direct(c.queue)
	c.history.Add(m.sent...)
	confirm, err := ch.PublishWithDeferredConfirm(m.exchange, m.routingKey, false, false, m.message)
	if err != nil {
		return err
	}
	if ok, err := confirm.WaitContext(context.Background()); err != nil || !ok {
		return err
	}
	c.history.Add(history.Event{Kind: history.Confirmed, Msg: m.sent[0].Msg}, history.Event{Kind: history.Synced, Queue: c.queue})
	return nil
}

// showsDeaths reports whether messages were dead-lettered, and returns were confirmed.
func showsDeaths(events []history.Event) bool {
	for _, e := range events {
		if e.Kind == history.Delivered && (e.Queue == history.DeadOf(limitedQueues[0]) || e.Queue == history.DeadOf(limitedQueues[1])) {
			return has(events, history.Synced)
		}
	}
	return false
}

func declareLimited(ch *amqp.Channel) error {
	for _, q := range limitedQueues {
		args := amqp.Table{"x-delivery-limit": int32(history.DeliveryLimit), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": history.DeadOf(q)}
		if err := errors.Join(declareQueues(ch, nil, history.DeadOf(q)), declareQueues(ch, args, q)); err != nil {
			return err
		}
	}
	return nil
}
