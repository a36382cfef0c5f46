package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The topology: an exchange that copies to two of three durable queues.
const exchange = "crash.copy"

var (
	queues = []string{"crash.one", "crash.two", "crash.three"}
	copied = queues[:2]
)

// maxUnconfirmed is how many publishes a publisher leaves unanswered.
const maxUnconfirmed = 200

// prefetch is how many deliveries a consumer may hold.
const prefetch = 50

// declare makes the topology; it may be there already.
func declare(ch *amqp.Channel) error {
	if err := ch.ExchangeDeclare(exchange, "fanout", true, false, false, false, nil); err != nil {
		return err
	}
	for _, q := range queues {
		if _, err := ch.QueueDeclare(q, true, false, false, false, nil); err != nil {
			return err
		}
	}
	for _, q := range copied {
		if err := ch.QueueBind(q, "", exchange, false, nil); err != nil {
			return err
		}
	}
	return nil
}

// client is one program with a connection of its own; it lives through all rounds.
type client struct {
	history *History
	lastTx  *atomic.Int64 // shared by all clients: the number of the newest transaction
	rng     *rand.Rand
	name    string // as publisher
	seq     int    // of the last message published
	queue   string // as consumer
	work    func(*client, *amqp.Channel) error
}

// run works on a new connection until it breaks. Only what the broker hands out damaged or refuses is an error.
func (c *client) run(url string) error {
	conn, err := amqp.Dial(url)
	if err != nil {
		return nil // killed before the login was over
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return nil
	}
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	err = c.work(c, ch)
	if errors.Is(err, errDamaged) {
		return err
	}
	select {
	case reason := <-closed:
		if reason != nil && reason.Server {
			return fmt.Errorf("%s%s: refused by the broker: %w", c.name, c.queue, reason)
		}
	default:
	}
	return nil
}

// next names the client's next message.
func (c *client) next() MsgID {
	c.seq++
	return MsgID{Publisher: c.name, Seq: c.seq}
}

// begin numbers a new transaction.
func (c *client) begin() int { return int(c.lastTx.Add(1)) }

// publishConfirmed publishes without end to one queue or, by the exchange, to two, and records the confirms.
func (c *client) publishConfirmed(ch *amqp.Channel) error {
	if err := ch.Confirm(false); err != nil {
		return err
	}
	before := c.seq // the message with delivery tag n on this channel has the number before+n
	window := make(chan struct{}, maxUnconfirmed)
	gone := make(chan struct{})
	confirms := ch.NotifyPublish(make(chan amqp.Confirmation, maxUnconfirmed))
	go func() {
		defer close(gone)
		for confirm := range confirms {
			if confirm.Ack {
				c.history.Add(Event{Kind: Confirmed, Msg: MsgID{c.name, before + int(confirm.DeliveryTag)}})
			}
			<-window
		}
	}()
	defer func() { <-gone }() // every confirm that arrived is recorded before the round ends
	for {
		select {
		case window <- struct{}{}:
		case <-gone:
			return nil
		}
		id := c.next()
		var err error
		if c.rng.IntN(3) == 0 {
			c.history.Add(Event{Kind: Sent, Msg: id, Queue: copied[0]}, Event{Kind: Sent, Msg: id, Queue: copied[1]})
			err = ch.Publish(exchange, "", false, false, publishing(id, c.rng))
		} else {
			queue := queues[c.rng.IntN(len(queues))]
			c.history.Add(Event{Kind: Sent, Msg: id, Queue: queue})
			err = ch.Publish("", queue, false, false, publishing(id, c.rng))
		}
		if err != nil {
			return err
		}
	}
}

// publishTx publishes transactions over all queues without end; one in eight is rolled back.
func (c *client) publishTx(ch *amqp.Channel) error {
	if err := ch.Tx(); err != nil {
		return err
	}
	for {
		tx := c.begin()
		for n := range 2 + c.rng.IntN(5) {
			id, queue := c.next(), queues[n%len(queues)]
			c.history.Add(Event{Kind: Sent, Msg: id, Queue: queue, Tx: tx})
			if err := ch.Publish("", queue, false, false, publishing(id, c.rng)); err != nil {
				return err
			}
		}
		if c.rng.IntN(8) == 0 {
			c.history.Add(Event{Kind: RolledBack, Tx: tx})
			if err := ch.TxRollback(); err != nil {
				return err
			}
			continue
		}
		if err := c.commit(ch, tx); err != nil {
			return err
		}
	}
}

// commit ends a transaction and records the answer.
func (c *client) commit(ch *amqp.Channel, tx int) error {
	c.history.Add(Event{Kind: CommitSent, Tx: tx})
	if err := ch.TxCommit(); err != nil {
		return err
	}
	c.history.Add(Event{Kind: Committed, Tx: tx})
	return nil
}

// consume acknowledges about ten messages by one method, and gives one message in forty back.
func (c *client) consume(ch *amqp.Channel) error {
	return c.receive(ch, func(d amqp.Delivery, held []Event) ([]Event, error) {
		switch {
		case c.rng.IntN(40) == 0:
			last := held[len(held)-1]
			c.history.Add(Event{Kind: Requeued, Msg: last.Msg, Queue: last.Queue})
			return held[:len(held)-1], d.Nack(false, true)
		case c.rng.IntN(10) == 0:
			c.history.Add(held...)
			return held[:0], d.Ack(true)
		}
		return held, nil
	})
}

// consumeTx acknowledges about eight messages in a transaction.
func (c *client) consumeTx(ch *amqp.Channel) error {
	if err := ch.Tx(); err != nil {
		return err
	}
	return c.receive(ch, func(d amqp.Delivery, held []Event) ([]Event, error) {
		if c.rng.IntN(8) != 0 {
			return held, nil
		}
		tx := c.begin()
		for n := range held {
			held[n].Tx = tx
		}
		c.history.Add(held...)
		if err := d.Ack(true); err != nil {
			return nil, err
		}
		return held[:0], c.commit(ch, tx)
	})
}

// receive records each delivery and hands it to settle, together with the Acked events to record when all deliveries
// that are still held are acknowledged, that of d last. settle returns what is held afterwards.
func (c *client) receive(ch *amqp.Channel, settle func(d amqp.Delivery, held []Event) ([]Event, error)) error {
	if err := ch.Qos(prefetch, 0, false); err != nil {
		return err
	}
	deliveries, err := ch.Consume(c.queue, "", false, false, false, false, nil)
	if err != nil {
		return err
	}
	var held []Event
	for d := range deliveries {
		id, err := parse(d.Body)
		if err != nil {
			return err
		}
		c.history.Add(Event{Kind: Delivered, Msg: id, Queue: c.queue, Redelivered: d.Redelivered})
		held, err = settle(d, append(held, Event{Kind: Acked, Msg: id, Queue: c.queue}))
		if err != nil {
			return err
		}
	}
	return nil
}

// drain empties all queues with basic.get and records what came.
func drain(ch *amqp.Channel, history *History) error {
	for _, queue := range queues {
		for {
			d, ok, err := ch.Get(queue, false)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			id, err := parse(d.Body)
			if err != nil {
				return err
			}
			history.Add(
				Event{Kind: Delivered, Msg: id, Queue: queue, Redelivered: d.Redelivered},
				Event{Kind: Acked, Msg: id, Queue: queue},
			)
			if err := d.Ack(false); err != nil {
				return err
			}
		}
	}
	return nil
}
