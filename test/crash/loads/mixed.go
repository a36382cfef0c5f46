package loads

import (
	"errors"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/crash/history"
)

// The queues of mixed, named after what is special about them.
const (
	slowQueue  = "crash.slow"
	dyingQueue = "crash.dying"
	largeQueue = "crash.large"
)

// mixed has a slow consumer, a consumer that dies all the time, and large messages.
var mixed = scenario{
	queues:  []string{slowQueue, dyingQueue, largeQueue},
	declare: func(ch *amqp.Channel) error { return declareQueues(ch, nil, slowQueue, dyingQueue, largeQueue) },
	clients: []client{
		{name: "confirming", work: (*client).publishConfirmed, compose: toMixed},
		{name: "transacting", work: (*client).publishTx, compose: toMixed},
		{name: "slow", queue: slowQueue, work: (*client).consumeSlowly},
		{name: "dying", queue: dyingQueue, work: (*client).consumeAndDie},
		{name: "consuming", queue: largeQueue, work: (*client).consume},
	},
	here: history.Plain, elsewhere: history.Plain,
	shows: showsTransactions,
}

// largeBytes is the maximum size of a large message.
const largeBytes = 4 << 20

// toMixed returns a message to any of the queues. One in ten goes to the slow consumer, and one in
// a hundred is large.
func toMixed(c *client) outgoing {
	switch n := c.rng.IntN(100); {
	case n < 10:
		return c.direct(slowQueue)
	case n < 11:
		m := c.direct(largeQueue)
		m.message = sized(m.sent[0].Msg, c.rng.IntN(largeBytes), c.rng)
		return m
	}
	return c.direct(dyingQueue)
}

// consumeSlowly consumes and takes up to 50 ms for each message.
func (c *client) consumeSlowly(ch *amqp.Channel) error {
	return c.receive(ch, func(d amqp.Delivery, held []history.Event) ([]history.Event, error) {
		<-time.After(time.Duration(c.rng.IntN(50)) * time.Millisecond)
		return c.settle(d, held)
	})
}

// errDied is returned when a client has cut its own connection.
var errDied = errors.New("died")

// consumeAndDie consumes until it cuts its connection with messages unacknowledged.
func (c *client) consumeAndDie(ch *amqp.Channel) error {
	if err := c.awaitAlone(ch); err != nil {
		return err
	}
	return c.receive(ch, func(d amqp.Delivery, held []history.Event) ([]history.Event, error) {
		if c.rng.IntN(200) != 0 {
			return c.settle(d, held)
		}
		if err := ch.Qos(prefetch, 0, false); err != nil { // once this is answered, all acknowledgements have been seen
			return nil, err
		}
		for _, e := range held {
			c.history.Add(history.Event{Kind: history.Requeued, Msg: e.Msg, Queue: e.Queue})
		}
		return nil, errDied
	})
}

// awaitAlone waits until the queue has no consumer. What the previous consumer held is then back in
// its place.
func (c *client) awaitAlone(ch *amqp.Channel) error {
	for {
		q, err := ch.QueueDeclarePassive(c.queue, true, false, false, false, nil)
		if err != nil || q.Consumers == 0 {
			return err
		}
		<-time.After(5 * time.Millisecond)
	}
}
