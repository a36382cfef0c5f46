package management

import (
	"fmt"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
)

// client is an AMQP client with one channel.
type client struct {
	conn *amqp.Connection
	ch   *amqp.Channel
	name string // of the connection, as the server shows it
}

// ofClient runs a command of a client: open VHOST, consume QUEUE TAG, publish QUEUE TEXT, get
// QUEUE, close.
func (p *player) ofClient(name string, words []string) (answer, error) {
	done := answer{status: 0, empty: true}
	if words[0] == "open" {
		return done, p.open(name, words[1])
	}
	c := p.clients[name]
	if c == nil {
		return done, fmt.Errorf("there is no client %s", name)
	}
	switch words[0] {
	case "consume":
		_, err := c.ch.Consume(words[1], words[2], false, false, false, false, nil)
		return done, err
	case "publish":
		confirm, err := c.ch.PublishWithDeferredConfirm("", words[1], false, false, amqp.Publishing{Body: []byte(strings.Join(words[2:], " "))})
		if err == nil && !confirm.Wait() {
			err = fmt.Errorf("publish to %s: refused", words[1])
		}
		return done, err
	case "get":
		_, _, err := c.ch.Get(words[1], false)
		return done, err
	case "exclusive":
		_, err := c.ch.QueueDeclare(words[1], false, false, true, false, nil)
		return done, err
	case "close":
		return done, c.conn.Close()
	}
	return done, fmt.Errorf("clients cannot %s", words[0])
}

func (p *player) open(name, vhost string) error {
	conn, err := amqp.DialConfig("amqp://guest:guest@"+p.amqp, amqp.Config{Vhost: vhost, Properties: amqp.Table{"connection_name": name}})
	if err != nil {
		return err
	}
	ch, err := conn.Channel()
	if err == nil {
		err = ch.Confirm(false)
	}
	p.clients[name] = &client{conn, ch, fmt.Sprintf("%s -> %s", conn.LocalAddr(), conn.RemoteAddr())}
	return err
}
