package tutorials

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

// Tutorial 1, hello: one producer, one queue, one consumer.
func TestHello(t *testing.T) {
	url := brokertest.URL(t)
	ch := confirming(t, url)
	fresh(t, ch, "tut.go.hello", false)
	publish(t, ch, "", "tut.go.hello", amqp.Publishing{ContentType: "text/plain", Body: []byte("Hello World!")})

	deliveries := must[<-chan amqp.Delivery](t)(ch.Consume("tut.go.hello", "", true, false, false, false, nil))
	d := next(t, deliveries)
	got := fmt.Sprint(string(d.Body), d.ContentType, d.Exchange, d.RoutingKey, d.DeliveryTag, d.Redelivered, d.MessageCount)
	if want := fmt.Sprint("Hello World!", "text/plain", "", "tut.go.hello", 1, false, 0); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Tutorial 2, work queue: durable queue, persistent tasks, fair dispatch, redelivery when a worker
// dies.
func TestWorkQueue(t *testing.T) {
	const queue = "tut.go.task_queue"
	url := brokertest.URL(t)
	ch := confirming(t, url)
	fresh(t, ch, queue, true)
	for n := range 6 {
		publish(t, ch, "", queue, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: fmt.Appendf(nil, "task %d", n)})
	}

	worker := func() (*amqp.Connection, <-chan amqp.Delivery) {
		conn := dial(t, url)
		own := must[*amqp.Channel](t)(conn.Channel())
		check(t, own.Qos(1, 0, false))
		return conn, must[<-chan amqp.Delivery](t)(own.Consume(queue, "", false, false, false, false, nil))
	}
	slowConn, slow := worker()
	if d := next(t, slow); string(d.Body) != "task 0" || d.Redelivered {
		t.Fatalf("the first worker got %q, redelivered %v", d.Body, d.Redelivered)
	}
	_, quick := worker()
	for n := 1; n < 6; n++ {
		d := next(t, quick)
		if want := fmt.Sprintf("task %d", n); string(d.Body) != want || d.Redelivered || d.DeliveryMode != amqp.Persistent {
			t.Errorf("got %q, redelivered %v, mode %d; want %q, false, 2", d.Body, d.Redelivered, d.DeliveryMode, want)
		}
		check(t, d.Ack(false))
	}

	check(t, slowConn.Close()) // without having acknowledged its task
	d := next(t, quick)
	if string(d.Body) != "task 0" || !d.Redelivered {
		t.Errorf("after the first worker left: %q, redelivered %v", d.Body, d.Redelivered)
	}
	check(t, d.Ack(false))
}

// Tutorial 3, publish/subscribe: a fanout exchange copies every log line to every subscriber.
func TestPublishSubscribe(t *testing.T) {
	const exchange = "tut.go.logs"
	url := brokertest.URL(t)
	ch := confirming(t, url)
	freshExchange(t, ch, exchange, "fanout")
	publish(t, ch, exchange, "", amqp.Publishing{Body: []byte("nobody listens yet")}) // dropped

	var subscribers []<-chan amqp.Delivery
	for range 3 {
		own := open(t, url)
		queue := queueFor(t, own, exchange, "")
		if !strings.HasPrefix(queue, "amq.gen-") {
			t.Errorf("server-named queue %q", queue)
		}
		subscribers = append(subscribers, must[<-chan amqp.Delivery](t)(own.Consume(queue, "", true, false, false, false, nil)))
	}
	for n := range 20 {
		publish(t, ch, exchange, "ignored", amqp.Publishing{Body: fmt.Appendf(nil, "line %d", n)})
	}
	for i, deliveries := range subscribers {
		for n := range 20 {
			if d := next(t, deliveries); string(d.Body) != fmt.Sprintf("line %d", n) || d.RoutingKey != "ignored" {
				t.Errorf("subscriber %d: %q with key %q at place %d", i, d.Body, d.RoutingKey, n)
			}
		}
	}
}

// Tutorial 4, routing: a direct exchange picks subscribers by severity.
func TestRouting(t *testing.T) {
	const exchange = "tut.go.direct_logs"
	ch := confirming(t, brokertest.URL(t))
	freshExchange(t, ch, exchange, "direct")
	disk := queueFor(t, ch, exchange, "error")
	screen := queueFor(t, ch, exchange, "info", "warning", "error")
	for _, severity := range []string{"info", "error", "debug", "warning", "error"} {
		publish(t, ch, exchange, severity, amqp.Publishing{Body: []byte(severity)})
	}
	expect(t, ch, disk, "error", "error")
	expect(t, ch, screen, "info", "error", "warning", "error")

	check(t, ch.QueueUnbind(screen, "error", exchange, nil))
	publish(t, ch, exchange, "error", amqp.Publishing{Body: []byte("last")})
	expect(t, ch, disk, "last")
	expect(t, ch, screen)
}

// Tutorial 5, topics: binding keys with * (one word) and # (any number of words).
func TestTopics(t *testing.T) {
	const exchange = "tut.go.topic_logs"
	ch := confirming(t, brokertest.URL(t))
	freshExchange(t, ch, exchange, "topic")
	orange := queueFor(t, ch, exchange, "*.orange.*")
	animals := queueFor(t, ch, exchange, "*.*.rabbit", "lazy.#")
	all := queueFor(t, ch, exchange, "#")
	keys := []string{"quick.orange.rabbit", "lazy.orange.elephant", "quick.brown.fox", "lazy.pink.rabbit", "orange", "lazy", "quick.orange.new.rabbit"}
	for _, key := range keys {
		publish(t, ch, exchange, key, amqp.Publishing{Body: []byte(key)})
	}
	expect(t, ch, orange, "quick.orange.rabbit", "lazy.orange.elephant")
	expect(t, ch, animals, "quick.orange.rabbit", "lazy.orange.elephant", "lazy.pink.rabbit", "lazy")
	expect(t, ch, all, keys...)
}

// Tutorial 6, RPC: requests with reply-to and correlation id, answered into an exclusive queue of
// the caller.
func TestRPC(t *testing.T) {
	const queue = "tut.go.rpc_queue"
	url := brokertest.URL(t)
	client := confirming(t, url)
	fresh(t, client, queue, false)

	server := open(t, url)
	check(t, server.Qos(1, 0, false))
	requests := must[<-chan amqp.Delivery](t)(server.Consume(queue, "", false, false, false, false, nil))
	served := make(chan error, 1)
	go func() { served <- serveSquares(server, requests) }()

	replyTo := queueFor(t, client, "")
	replies := must[<-chan amqp.Delivery](t)(client.Consume(replyTo, "", true, true, false, false, nil))
	for n := range 5 {
		publish(t, client, "", queue, amqp.Publishing{ReplyTo: replyTo, CorrelationId: fmt.Sprintf("call-%d", n), Body: strconv.AppendInt(nil, int64(n), 10)})
	}
	for n := range 5 {
		if d := next(t, replies); d.CorrelationId != fmt.Sprintf("call-%d", n) || string(d.Body) != strconv.Itoa(n*n) {
			t.Errorf("reply %d: %q to %q", n, d.Body, d.CorrelationId)
		}
	}
	check(t, server.Close())
	check(t, <-served)
}

// serveSquares answers each request with the square of its number until its channel is closed.
func serveSquares(ch *amqp.Channel, requests <-chan amqp.Delivery) error {
	for d := range requests {
		n, err := strconv.Atoi(string(d.Body))
		if err != nil {
			return err
		}
		reply := amqp.Publishing{CorrelationId: d.CorrelationId, Body: []byte(strconv.Itoa(n * n))}
		if err := ch.Publish("", d.ReplyTo, false, false, reply); err != nil {
			return err
		}
		if err := d.Ack(false); err != nil {
			return err
		}
	}
	return nil
}

// expect checks that a queue holds exactly these bodies in this order, and empties it.
func expect(t *testing.T, ch *amqp.Channel, queue string, want ...string) {
	t.Helper()
	if got := drain(t, ch, queue); !slices.Equal(got, want) {
		t.Errorf("queue holds %q, want %q", got, want)
	}
}
