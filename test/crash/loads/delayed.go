package loads

import (
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/crash/history"
)

// later is a delayed exchange. Each queue is bound to it with its own name as the key.
const later = "crash.later"

// delayed has publishers to a delayed exchange. Many messages fall due while the broker is down or
// is being killed.
var delayed = scenario{
	queues:  queues,
	declare: declareDelayed,
	clients: []client{
		{name: "confirming", work: (*client).publishConfirmed, compose: delay},
		{name: "transacting", work: (*client).publishTx, compose: delay},
		{name: "consuming", queue: queues[0], work: (*client).consume},
		{name: "consuming2", queue: queues[1], work: (*client).consumeTx},
		{name: "consuming3", queue: queues[2], work: (*client).consumeTx},
	},
	here: history.Delayed, elsewhere: history.DelayedElsewhere,
	shows:   showsDelays,
	settled: allDue,
}

// delay returns a message with a delay of up to three seconds. Most delays are less than half a
// second, and some are zero.
func delay(c *client) outgoing {
	ms := max(0, c.rng.IntN(500)-50)
	if c.rng.IntN(20) == 0 {
		ms = c.rng.IntN(3000)
	}
	m := one(c)
	m.exchange = later
	m.message.Headers = amqp.Table{"x-delay": int32(ms)}
	m.sent[0].At = time.Now().UnixMilli() + int64(ms)
	return m
}

// allDue returns a time shortly after the last message is due.
func allDue(events []history.Event) time.Time {
	last := int64(0)
	for _, e := range events {
		if e.Kind == history.Sent {
			last = max(last, e.At)
		}
	}
	return time.UnixMilli(last).Add(2 * time.Second)
}

// showsDelays reports whether messages fell due between the last delivery and the kill.
func showsDelays(events []history.Event) bool {
	over, due, delivered := 0, int64(0), int64(0)
	for _, e := range events {
		switch e.Kind {
		case history.Sent:
			due = max(due, e.At)
		case history.Delivered:
			delivered = max(delivered, e.At)
		case history.Crashed:
			if due > delivered {
				over++
			}
		}
	}
	return over > 0 && showsTransactions(events)
}

func declareDelayed(ch *amqp.Channel) error {
	err := ch.ExchangeDeclare(later, "x-delayed-message", true, false, false, false, amqp.Table{"x-delayed-type": "direct"})
	if err != nil {
		return err
	}
	if err := declareQueues(ch, nil, queues...); err != nil {
		return err
	}
	for _, q := range queues {
		if err := ch.QueueBind(q, q, later, false, nil); err != nil {
			return err
		}
	}
	return nil
}
