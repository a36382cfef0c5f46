package migrate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"

	amqp "github.com/rabbitmq/amqp091-go"
)

// bridge is an exchange at the target that routes every message to one queue, so that messages keep
// the routing keys that consumers may look at.
type bridge struct{ uri, exchange string }

// openBridge creates the exchange. It is durable, to survive a restart of the target during a
// migration. The error tells if the queue does not exist.
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

// on calls do with a channel on a connection of its own. A permanent connection would have to be
// replaced after a restart of the target.
func (b *bridge) on(do func(*amqp.Channel) error) error {
	conn, err := amqp.DialConfig(b.uri, amqp.Config{})
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // every request was answered
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	return do(ch)
}
