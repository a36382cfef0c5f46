package migrate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"

	amqp "github.com/rabbitmq/amqp091-go"
)

// bridge is an exchange of the target that brings to one queue whatever it gets, so that messages
// keep their routing keys: consumers look at them.
type bridge struct{ uri, exchange string }

// openBridge makes the exchange, durable so that it outlives a restart of the target in the middle
// of a move. The error tells when there is no such queue.
func openBridge(uri, queue string) (*bridge, error) {
	sum := sha256.Sum256([]byte(queue))
	b := &bridge{uri: uri, exchange: mover + "." + hex.EncodeToString(sum[:8])}
	err := b.on(func(ch *amqp.Channel) error {
		if err := ch.ExchangeDeclare(b.exchange, amqp.ExchangeFanout, true, false, false, false, nil); err != nil {
			return err
		}
		return ch.QueueBind(queue, "", b.exchange, false, nil)
	})
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// close deletes the exchange.
func (b *bridge) close() error {
	return b.on(func(ch *amqp.Channel) error { return ch.ExchangeDelete(b.exchange, false, false) })
}

// on does something with a channel of a connection for it alone: one that was kept would have to be
// made anew when the target was started again.
func (b *bridge) on(do func(*amqp.Channel) error) error {
	conn, err := amqp.DialConfig(b.uri, amqp.Config{})
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // all was answered
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	return do(ch)
}
