package loads

import (
	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/crash/history"
)

// The topology: an exchange that copies to two of three durable queues.
const exchange = "crash.copy"

var (
	queues = []string{"crash.one", "crash.two", "crash.three"}
	copied = queues[:2]
)

// plain has publishers with confirms and with transactions, and consumers with and without
// transactions.
var plain = scenario{
	queues:  queues,
	declare: declarePlain,
	clients: []client{
		{name: "confirming", work: (*client).publishConfirmed, compose: copyOrOne},
		{name: "transacting", work: (*client).publishTx, compose: one},
		{name: "transacting2", work: (*client).publishTx, compose: one},
		{name: "consuming", queue: queues[0], work: (*client).consume},
		{name: "consuming2", queue: queues[1], work: (*client).consumeTx},
		{name: "consuming3", queue: queues[2], work: (*client).consumeTx},
	},
	here: history.Plain, elsewhere: history.Plain,
	shows: showsTransactions,
}

// one returns a message to any of the queues.
func one(c *client) outgoing { return c.direct(queues[c.rng.IntN(len(queues))]) }

// copyOrOne returns, one time in three, a message that the exchange copies to two queues, and
// otherwise a message to one queue.
func copyOrOne(c *client) outgoing {
	if c.rng.IntN(3) != 0 {
		return one(c)
	}
	id := c.next()
	return outgoing{
		exchange: exchange,
		sent:     []history.Event{{Kind: history.Sent, Msg: id, Queue: copied[0]}, {Kind: history.Sent, Msg: id, Queue: copied[1]}},
		message:  publishing(id, c.rng),
	}
}

// declarePlain declares the topology, which may exist already.
func declarePlain(ch *amqp.Channel) error {
	if err := ch.ExchangeDeclare(exchange, "fanout", true, false, false, false, nil); err != nil {
		return err
	}
	if err := declareQueues(ch, nil, queues...); err != nil {
		return err
	}
	for _, q := range copied {
		if err := ch.QueueBind(q, "", exchange, false, nil); err != nil {
			return err
		}
	}
	return nil
}
