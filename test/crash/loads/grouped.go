package loads

import (
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/crash/history"
)

// groups is the number of keys that a publisher uses.
const groups = 8

var groupedQueues = []string{"crash.one", "crash.two"}

// grouped has two or three consumers on each queue, which share its keys.
var grouped = scenario{
	queues:  groupedQueues,
	declare: declareGrouped,
	clients: []client{
		{name: "confirming", work: (*client).publishConfirmed, compose: inGroup},
		{name: "transacting", work: (*client).publishTx, compose: inGroup},
		{name: "consuming", queue: groupedQueues[0], work: (*client).consume},
		{name: "consuming2", queue: groupedQueues[0], work: (*client).consume},
		{name: "consuming3", queue: groupedQueues[0], work: (*client).consumeTx},
		{name: "consuming4", queue: groupedQueues[1], work: (*client).consume},
		{name: "consuming5", queue: groupedQueues[1], work: (*client).consumeTx},
	},
	here: history.Grouped, elsewhere: history.Grouped,
	shows: showsSharing,
}

// inGroup returns a message with one of the keys. All publishers use the same keys.
func inGroup(c *client) outgoing {
	m := c.direct(groupedQueues[c.rng.IntN(len(groupedQueues))])
	key := fmt.Sprintf("k%d", c.rng.IntN(groups))
	m.sent[0].Key = key
	m.message.Headers = amqp.Table{keyHeader: key}
	return m
}

// showsSharing reports whether a key moved from one consumer to another within a round.
func showsSharing(events []history.Event) bool {
	holder := map[history.Keyed]string{}
	for _, e := range events {
		k := history.Keyed{Key: e.Key, Queue: e.Queue}
		switch e.Kind {
		case history.Delivered:
			if before := holder[k]; before != "" && before != e.Consumer {
				return showsTransactions(events)
			}
			holder[k] = e.Consumer
		case history.Crashed:
			clear(holder)
		}
	}
	return false
}

func declareGrouped(ch *amqp.Channel) error {
	return declareQueues(ch, amqp.Table{"x-group-header": keyHeader}, groupedQueues...)
}
