package slow

import (
	"encoding/binary"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

const (
	// patience is a timeout that only a failing test uses up.
	patience = 120 * time.Second
	// memoryLimit is the broker's memory limit. maxRSS is what it may really use: the limit, its
	// program, and what the garbage collector has not returned yet. volume is what a broker that
	// buffers for a stuck client would use.
	memoryLimit = "64MiB"
	maxRSS      = 320 << 20
	volume      = 512 << 20
	bodyBytes   = 64 << 10
	messages    = volume / bodyBytes
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// TestConsumerThatNeverReads stops one of two subscribers from reading its socket. The other one
// must receive everything, and so must the stuck one when it reads again.
func TestConsumerThatNeverReads(t *testing.T) {
	b := brokertest.Run(t, "--memory-limit", memoryLimit)
	stuckConn, stuckSocket := dialValve(t, b.URL())
	stuck := subscribe(t, stuckConn, "amq.fanout")
	healthyConn, _ := dialValve(t, b.URL())
	healthy := subscribe(t, healthyConn, "amq.fanout")

	resume := stuckSocket.stopReading()
	sent := make(chan error, 1)
	go func() { sent <- publishNumbers(b.URL(), "amq.fanout") }()
	receiveNumbers(t, healthy)
	check(t, <-sent)
	checkMemory(t, b)

	resume()
	receiveNumbers(t, stuck)
}

// TestPublisherThatStopsInAFrame lets publishers die in the middle of a body frame without closing
// their sockets.
func TestPublisherThatStopsInAFrame(t *testing.T) {
	b := brokertest.Run(t, "--memory-limit", memoryLimit)
	healthyConn, _ := dialValve(t, b.URL())
	healthy := subscribe(t, healthyConn, "amq.fanout")

	const stopped = 30
	body := make([]byte, 16<<20)
	for range stopped {
		conn, socket := dialValve(t, b.URL())
		ch := channel(t, conn)
		socket.cutAfter(200_000) // one body frame and a part of the next one
		check(t, ch.Publish("amq.fanout", "", false, false, amqp.Publishing{Body: body}))
	}
	check(t, publishNumbers(b.URL(), "amq.fanout"))
	receiveNumbers(t, healthy) // and no message of the stopped publishers among them
	checkMemory(t, b)
}

// TestPublisherThatNeverReads returns every message of a publisher to it, but the publisher does
// not read. The broker must stop accepting its messages, and serve the others.
func TestPublisherThatNeverReads(t *testing.T) {
	b := brokertest.Run(t, "--memory-limit", memoryLimit)
	conn, socket := dialValve(t, b.URL())
	ch := channel(t, conn)
	resume := socket.stopReading()
	defer resume()
	published := make(chan error, 1)
	go func() {
		unroutable := amqp.Publishing{Body: make([]byte, bodyBytes)}
		for range messages {
			if err := ch.Publish("amq.direct", "slow.nobody", true, false, unroutable); err != nil {
				published <- err
				return
			}
		}
		published <- nil
	}()
	select {
	case <-socket.stalled:
	case err := <-published:
		t.Fatalf("the broker took %d MiB that it cannot give back (%v)", volume>>20, err)
	case <-time.After(patience):
		t.Fatal("the publisher neither ended nor stalled")
	}
	checkMemory(t, b)

	healthyConn, _ := dialValve(t, b.URL())
	healthy := subscribe(t, healthyConn, "amq.fanout")
	sent := make(chan error, 1)
	go func() { sent <- publishNumbers(b.URL(), "amq.fanout") }()
	receiveNumbers(t, healthy)
	check(t, <-sent)
	checkMemory(t, b)
}

// subscribe consumes, without acknowledgements, from a new exclusive queue bound to the exchange.
func subscribe(t *testing.T, conn *amqp.Connection, exchange string) <-chan amqp.Delivery {
	t.Helper()
	ch := channel(t, conn)
	q, err := ch.QueueDeclare("", false, false, true, false, nil)
	check(t, err)
	check(t, ch.QueueBind(q.Name, "", exchange, false, nil))
	deliveries, err := ch.Consume(q.Name, "", true, false, false, false, nil)
	check(t, err)
	return deliveries
}

// publishNumbers publishes all messages, numbered, and returns once the last is confirmed.
func publishNumbers(url, exchange string) error {
	conn, err := amqp.Dial(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	body := make([]byte, bodyBytes)
	var last *amqp.DeferredConfirmation
	for n := range messages {
		binary.BigEndian.PutUint64(body, uint64(n))
		if last, err = ch.PublishWithDeferredConfirm(exchange, "", false, false, amqp.Publishing{Body: body}); err != nil {
			return err
		}
	}
	last.Wait()
	return nil
}

// receiveNumbers checks that all messages of publishNumbers arrive in order with no others between
// them.
func receiveNumbers(t *testing.T, deliveries <-chan amqp.Delivery) {
	t.Helper()
	late := time.After(patience)
	for n := range messages {
		select {
		case d, ok := <-deliveries:
			if !ok {
				t.Fatalf("the consumer was ended after %d of %d messages", n, messages)
			}
			if got := binary.BigEndian.Uint64(d.Body); len(d.Body) != bodyBytes || got != uint64(n) {
				t.Fatalf("message %d is number %d with %d bytes", n, got, len(d.Body))
			}
		case <-late:
			t.Fatalf("only %d of %d messages came", n, messages)
		}
	}
}

func checkMemory(t *testing.T, b *brokertest.Broker) {
	t.Helper()
	rss, err := b.PeakRSS()
	check(t, err)
	t.Logf("peak RSS %d MiB", rss>>20)
	if rss > maxRSS {
		t.Errorf("peak RSS is %d MiB, more than %d MiB", rss>>20, maxRSS>>20)
	}
}

func channel(t *testing.T, conn *amqp.Connection) *amqp.Channel {
	t.Helper()
	ch, err := conn.Channel()
	check(t, err)
	return ch
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
