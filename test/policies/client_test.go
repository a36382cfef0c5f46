package policies

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/daemon"
	"fiveways.dev/fiveways/test/rabbitmq"
)

var onRabbitMQ = flag.Bool("rabbitmq", false, "ask an installed RabbitMQ")

func TestMain(m *testing.M) { brokertest.Main(m) }

// patience is the timeout for a message to arrive.
const patience = 30 * time.Second

// client uses HTTP and AMQP on one broker.
type client struct {
	t    *testing.T
	http string // address
	conn *amqp.Connection
	ch   *amqp.Channel // in confirm mode
}

// start starts a broker and returns a client of it.
func start(t *testing.T) *client {
	t.Helper()
	if *onRabbitMQ {
		node := daemon.ForTest(t, func() (*rabbitmq.Node, error) { return rabbitmq.Serve(rabbitmq.Options{}) }, rabbitmq.ErrNone)
		return connect(t, node.HTTPAddr, node.AMQPAddr)
	}
	b := brokertest.Run(t, "--http", "127.0.0.1:0")
	return connect(t, b.HTTPAddr(), b.Addr())
}

func connect(t *testing.T, http, address string) *client {
	t.Helper()
	conn, err := amqp.Dial("amqp://guest:guest@" + address + "/%2f")
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, http: http, conn: conn}
	c.open()
	return c
}

// open opens a channel in confirm mode.
func (c *client) open() {
	c.t.Helper()
	ch, err := c.conn.Channel()
	if err == nil {
		err = ch.Confirm(false)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.ch = ch
}

// request sends a request to the HTTP API below /api/, which must succeed, and returns the answer.
func (c *client) request(method, path, body string) string {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, "http://"+c.http+"/api/"+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.SetBasicAuth("guest", "guest")
	r.Header.Set("Content-Type", "application/json") // RabbitMQ requires it
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err != nil || w.StatusCode >= http.StatusBadRequest {
		c.t.Fatalf("%s %s: %s %s %v", method, path, w.Status, text, err)
	}
	return string(text)
}

// set sets a policy and drop deletes it. kind is `policies` or `operator-policies`.
func (c *client) set(kind, name, value string) {
	c.t.Helper()
	c.request("PUT", kind+"/%2F/"+name, value)
}

func (c *client) drop(kind, name string) {
	c.t.Helper()
	c.request("DELETE", kind+"/%2F/"+name, "")
}

func (c *client) declare(queue string, args amqp.Table) {
	c.t.Helper()
	if _, err := c.ch.QueueDeclare(queue, true, false, false, false, args); err != nil {
		c.t.Fatal(err)
	}
}

// publish publishes a message for each letter to an exchange. The result has + for each confirmed
// message and - for each rejected one.
func (c *client) publish(exchange, key, letters string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	var outcome strings.Builder
	for _, letter := range letters {
		m := amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte(string(letter))}
		confirm, err := c.ch.PublishWithDeferredConfirmWithContext(ctx, exchange, key, false, false, m)
		if err != nil {
			c.t.Fatal(err)
		}
		acked, err := confirm.WaitContext(ctx)
		if err != nil {
			c.t.Fatal(err)
		}
		outcome.WriteByte(map[bool]byte{true: '+', false: '-'}[acked])
	}
	return outcome.String()
}

// take takes all messages of a queue.
func (c *client) take(queue string) string {
	c.t.Helper()
	var taken strings.Builder
	for {
		d, ok, err := c.ch.Get(queue, true)
		if err != nil {
			c.t.Fatal(err)
		}
		if !ok {
			return taken.String()
		}
		taken.Write(d.Body)
	}
}

// arrives waits for a message in a queue, and returns its body and the reason of its
// dead-lettering: `x rejected`.
func (c *client) arrives(queue string) string {
	c.t.Helper()
	tag := "of " + queue
	deliveries, err := c.ch.Consume(queue, tag, true, false, false, false, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer c.ch.Cancel(tag, false) //nolint:errcheck // a closed channel has already failed the test
	select {
	case d := <-deliveries:
		deaths, _ := d.Headers["x-death"].([]any)
		if len(deaths) == 0 {
			return string(d.Body)
		}
		return fmt.Sprintf("%s %s", d.Body, deaths[0].(amqp.Table)["reason"])
	case <-time.After(patience):
		c.t.Fatalf("nothing comes to %s", queue)
	}
	return ""
}
