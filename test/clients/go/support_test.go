package tutorials

import (
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

// patience is a timeout that only a failing test uses up.
const patience = 30 * time.Second

func TestMain(m *testing.M) { brokertest.Main(m) }

// dial opens a connection and closes it when the test ends.
func dial(t *testing.T, url string) *amqp.Connection {
	t.Helper()
	conn, err := amqp.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// open opens a channel on a new connection.
func open(t *testing.T, url string) *amqp.Channel {
	t.Helper()
	return must[*amqp.Channel](t)(dial(t, url).Channel())
}

// must returns a function that unwraps (value, error) and ends the test on an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		check(t, err)
		return v
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// publish sends a message on a channel in confirm mode and waits for the confirm, so that every
// queue has it.
func publish(t *testing.T, ch *amqp.Channel, exchange, key string, msg amqp.Publishing) {
	t.Helper()
	confirm, err := ch.PublishWithDeferredConfirm(exchange, key, false, false, msg)
	check(t, err)
	select {
	case <-confirm.Done():
		if !confirm.Acked() {
			t.Fatalf("publish to %q with key %q was refused", exchange, key)
		}
	case <-time.After(patience):
		t.Fatalf("publish to %q with key %q was not confirmed", exchange, key)
	}
}

// confirming opens a channel in confirm mode on a new connection.
func confirming(t *testing.T, url string) *amqp.Channel {
	t.Helper()
	ch := open(t, url)
	check(t, ch.Confirm(false))
	return ch
}

// queueFor declares a server-named exclusive queue and binds it with each key.
func queueFor(t *testing.T, ch *amqp.Channel, exchange string, keys ...string) string {
	t.Helper()
	q := must[amqp.Queue](t)(ch.QueueDeclare("", false, false, true, false, nil))
	for _, key := range keys {
		check(t, ch.QueueBind(q.Name, key, exchange, false, nil))
	}
	return q.Name
}

// fresh declares a queue that is certainly empty and deletes it when the test ends.
func fresh(t *testing.T, ch *amqp.Channel, name string, durable bool) {
	t.Helper()
	must[int](t)(ch.QueueDelete(name, false, false, false))
	must[amqp.Queue](t)(ch.QueueDeclare(name, durable, false, false, false, nil))
	t.Cleanup(func() { ch.QueueDelete(name, false, false, false) })
}

// freshExchange declares an exchange without bindings and deletes it when the test ends.
func freshExchange(t *testing.T, ch *amqp.Channel, name, kind string) {
	t.Helper()
	check(t, ch.ExchangeDelete(name, false, false))
	check(t, ch.ExchangeDeclare(name, kind, false, false, false, false, nil))
	t.Cleanup(func() { ch.ExchangeDelete(name, false, false) })
}

// next returns the next delivery of a consumer.
func next(t *testing.T, deliveries <-chan amqp.Delivery) amqp.Delivery {
	t.Helper()
	select {
	case d, ok := <-deliveries:
		if ok {
			return d
		}
		t.Fatal("the consumer was ended")
	case <-time.After(patience):
		t.Fatal("no delivery")
	}
	return amqp.Delivery{} // never: Fatal does not return
}

// drain empties a queue with basic.get and returns the bodies. It finds all messages that were
// confirmed before.
func drain(t *testing.T, ch *amqp.Channel, queue string) []string {
	t.Helper()
	var bodies []string
	for {
		d, ok, err := ch.Get(queue, true)
		check(t, err)
		if !ok {
			return bodies
		}
		bodies = append(bodies, string(d.Body))
	}
}
