package shovel

import (
	"context"
	"fmt"
	"net"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	dialPatience = 10 * time.Second
	// heartbeat finds a peer that is gone without a word within about twice that.
	heartbeat = 10 * time.Second
)

// dial connects; the end of ctx ends the attempt. The URI may name files of certificates as RabbitMQ's URIs do (cacertfile, certfile, keyfile).
func dial(ctx context.Context, uri, side string) (*amqp.Connection, error) {
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName("fiveways shovel: " + side)
	c, err := amqp.DialConfig(uri, amqp.Config{
		Heartbeat: heartbeat, Properties: properties,
		Dial: func(network, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{Timeout: dialPatience}).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			// For the handshake; the library takes it away.
			if err := conn.SetDeadline(time.Now().Add(dialPatience)); err != nil {
				return nil, err
			}
			return conn, nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("shovel: %s: %w", side, err)
	}
	return c, nil
}
