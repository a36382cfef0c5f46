package loads

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/crash/history"
)

// maxUnconfirmed limits the unconfirmed messages of a publisher that has no window of its own.
const maxUnconfirmed = 200

// keyHeader holds a message's Key.
const keyHeader = "key"

// prefetch limits the unacknowledged deliveries of a consumer.
const prefetch = 50

// client is a program with its own connection, which it reopens after each kill.
type client struct {
	history *history.Messages
	lastTx  *atomic.Int64 // shared by all clients: the number of the newest transaction
	rng     *rand.Rand
	name    string // as publisher and as consumer
	seq     int    // of the last message published
	queue   string // as consumer
	compose func(*client) outgoing
	window  int       // limit of unconfirmed messages; 0 means maxUnconfirmed
	repeat  *repeater // nil for publishers that do not repeat
	pace    *pace
	work    func(*client, *amqp.Channel) error
}

// outgoing is a message that is about to be published.
type outgoing struct {
	exchange, routingKey string
	sent                 []history.Event // what is recorded about it
	message              amqp.Publishing
}

// direct returns a message to one queue.
func (c *client) direct(queue string) outgoing {
	id := c.next()
	return outgoing{routingKey: queue, sent: []history.Event{{Kind: history.Sent, Msg: id, Queue: queue}}, message: publishing(id, c.rng)}
}

// publish records the message as part of the transaction tx (0 for none) and sends it.
func (c *client) publish(ch *amqp.Channel, m outgoing, tx int) error {
	c.pace.wait()
	for n := range m.sent {
		m.sent[n].Tx = tx
	}
	c.history.Add(m.sent...)
	return ch.Publish(m.exchange, m.routingKey, false, false, m.message)
}

// run opens connections and works on them until one breaks. It returns an error only if the broker
// delivers damaged data or refuses a request.
func (c *client) run(url string) (err error) {
	for err = errDied; errors.Is(err, errDied); {
		err = c.session(url)
	}
	return err
}

// session works on a new connection until it breaks. The error may be errDied.
func (c *client) session(url string) error {
	var wire net.Conn
	conn, err := amqp.DialConfig(url, amqp.Config{Dial: func(network, addr string) (nc net.Conn, err error) {
		wire, err = amqp.DefaultDial(patience)(network, addr)
		return wire, err
	}})
	if err != nil {
		return nil // killed during the login
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return nil
	}
	c.repeat.unsure()
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	err = c.work(c, ch)
	if errors.Is(err, errDied) {
		reset(wire)
	}
	if errors.Is(err, errDied) || errors.Is(err, errDamaged) {
		return err
	}
	select {
	case reason := <-closed:
		if reason != nil && reason.Server && reason.Code != amqp.ConnectionForced { // a node that gives up its lead sends it
			return fmt.Errorf("%s: refused by the broker: %w", c.name, reason)
		}
	default:
	}
	return nil
}

// reset closes a connection abruptly, so that the broker sees a reset.
func reset(nc net.Conn) {
	if tcp, ok := nc.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	nc.Close()
}

// next returns the id of the client's next message.
func (c *client) next() history.MsgID {
	c.seq++
	return history.MsgID{Publisher: c.name, Seq: c.seq}
}

// begin returns the number of a new transaction.
func (c *client) begin() int { return int(c.lastTx.Add(1)) }

// publishConfirmed publishes in a loop and records the confirms.
func (c *client) publishConfirmed(ch *amqp.Channel) error {
	if err := ch.Confirm(false); err != nil {
		return err
	}
	before := c.seq // delivery tag n of this channel is message before+n
	window := make(chan struct{}, cmp.Or(c.window, maxUnconfirmed))
	gone := make(chan struct{})
	confirms := ch.NotifyPublish(make(chan amqp.Confirmation, cap(window)))
	go func() {
		defer close(gone)
		for confirm := range confirms {
			if confirm.Ack {
				id := history.MsgID{Publisher: c.name, Seq: before + int(confirm.DeliveryTag)}
				c.history.Add(history.Event{Kind: history.Confirmed, Msg: id})
				c.repeat.confirmed(id)
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
		if err := c.publish(ch, c.compose(c), 0); err != nil {
			return err
		}
	}
}

// publishTx publishes transactions in a loop; one in eight is rolled back.
func (c *client) publishTx(ch *amqp.Channel) error {
	if err := ch.Tx(); err != nil {
		return err
	}
	for {
		tx := c.begin()
		for range 2 + c.rng.IntN(5) {
			if err := c.publish(ch, c.compose(c), tx); err != nil {
				return err
			}
		}
		if c.rng.IntN(8) == 0 {
			c.history.Add(history.Event{Kind: history.RolledBack, Tx: tx})
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

// commit commits a transaction and records the answer.
func (c *client) commit(ch *amqp.Channel, tx int) error {
	c.history.Add(history.Event{Kind: history.CommitSent, Tx: tx})
	if err := ch.TxCommit(); err != nil {
		return err
	}
	c.history.Add(history.Event{Kind: history.Committed, Tx: tx})
	c.repeat.committed()
	return nil
}

// consume consumes and settles deliveries with settle.
func (c *client) consume(ch *amqp.Channel) error { return c.receive(ch, c.settle) }

// settle acknowledges about ten messages with one method, and returns one message in forty to the
// queue.
func (c *client) settle(d amqp.Delivery, held []history.Event) ([]history.Event, error) {
	switch {
	case c.rng.IntN(40) == 0:
		last := held[len(held)-1]
		c.history.Add(history.Event{Kind: history.Requeued, Msg: last.Msg, Queue: last.Queue})
		return held[:len(held)-1], d.Nack(false, true)
	case c.rng.IntN(10) == 0 || len(held) == prefetch:
		c.history.Add(held...)
		return held[:0], d.Ack(true)
	}
	return held, nil
}

// consumeTx acknowledges about eight messages in a transaction.
func (c *client) consumeTx(ch *amqp.Channel) error {
	if err := ch.Tx(); err != nil {
		return err
	}
	return c.receive(ch, func(d amqp.Delivery, held []history.Event) ([]history.Event, error) {
		if c.rng.IntN(8) != 0 && len(held) < prefetch {
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

// receive records each delivery and passes it to settle, together with the Acked events to record
// when all unsettled deliveries are acknowledged; the last event is that of d. settle returns the
// events of the deliveries that are still unsettled.
func (c *client) receive(ch *amqp.Channel, settle func(d amqp.Delivery, held []history.Event) ([]history.Event, error)) error {
	if err := ch.Qos(prefetch, 0, false); err != nil {
		return err
	}
	deliveries, err := ch.Consume(c.queue, "", false, false, false, false, nil)
	if err != nil {
		return err
	}
	var held []history.Event
	for d := range deliveries {
		e, err := delivered(d, c.queue, c.name)
		if err != nil {
			return err
		}
		c.history.Add(e)
		held, err = settle(d, append(held, history.Event{Kind: history.Acked, Msg: e.Msg, Queue: c.queue}))
		if err != nil {
			return err
		}
	}
	return nil
}

// delivered returns the event that records a delivery.
func delivered(d amqp.Delivery, queue, consumer string) (history.Event, error) {
	id, err := parse(d.Body)
	if err != nil {
		return history.Event{}, err
	}
	key, _ := d.Headers[keyHeader].(string)
	count, _ := d.Headers["x-delivery-count"].(int64)
	return history.Event{
		Kind: history.Delivered, Msg: id, Queue: queue, Redelivered: d.Redelivered,
		Key: key, Consumer: consumer, Count: int(count), At: time.Now().UnixMilli(),
	}, nil
}

// drain empties the queues with basic.get, records the messages and returns their number.
func drain(ch *amqp.Channel, h *history.Messages, queues []string) (n int, err error) {
	for _, queue := range queues {
		for {
			d, ok, err := ch.Get(queue, false)
			if err != nil {
				return n, err
			}
			if !ok {
				break
			}
			e, err := delivered(d, queue, "drain")
			if err != nil {
				return n, err
			}
			h.Add(e, history.Event{Kind: history.Acked, Msg: e.Msg, Queue: queue})
			if err := d.Ack(false); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
