package semaphore

import (
	"encoding/json"
	"fmt"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/test/brokertest"
)

// TestSQL runs the scripts over the SQL protocol of a broker.
func TestSQL(t *testing.T) {
	s := startFront(t)
	playAll(t, func(*testing.T) side { s.clear(); return s })
}

// startFront starts a broker. Events come from a queue that is bound to their exchange.
func startFront(t testing.TB) *sqlSide {
	b := brokertest.Run(t, "--sql", "127.0.0.1:0")
	s := connect(t, fmt.Sprintf("postgres://guest:guest@%s/fiveways?sslmode=disable", b.SQLAddr()))
	conn, err := amqp.Dial(b.URL())
	must(t, err)
	t.Cleanup(func() { conn.Close() }) //nolint:errcheck // the broker may have exited first
	ch, err := conn.Channel()
	must(t, err)
	must(t, ch.ExchangeDeclare(semaphores.Exchange, "topic", true, false, false, false, nil))
	queue, err := ch.QueueDeclare("events", true, false, false, false, nil)
	must(t, err)
	must(t, ch.QueueBind(queue.Name, "#", semaphores.Exchange, false, nil))
	s.take = func() (all []event) {
		for {
			d, ok, err := ch.Get(queue.Name, true)
			must(t, err)
			if !ok {
				return all
			}
			var e event
			must(t, json.Unmarshal(d.Body, &e))
			all = append(all, e)
		}
	}
	return s
}
