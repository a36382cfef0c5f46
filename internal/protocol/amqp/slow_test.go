package amqp

import (
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// TestClientThatNeverReads checks that a consumer that does not read holds only a bounded part of
// the queue, that it does not hold back others, and that the queue gets back what it did not read.
func TestClientThatNeverReads(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	stuck, c := n.login(), n.login()
	stuck.open(1)
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "q"})
	stuck.call(1, &amqpwire.BasicConsume{Queue: "q", ConsumerTag: "s"}, &amqpwire.BasicConsumeOk{ConsumerTag: "s"})
	c.call(1, &amqpwire.ConfirmSelect{}, &amqpwire.ConfirmSelectOk{})
	body := strings.Repeat("x", 100_000)
	const count = 400 // 40 MB: far more than the window and the system's buffers
	for range count {
		c.publish(1, "", "q", false, message.Properties{}, body)
	}
	for last := uint64(0); last < count; {
		last = expect[*amqpwire.BasicAck](c, 1).DeliveryTag
	}
	info := c.declare(1, amqpwire.QueueDeclare{Queue: "q", Passive: true})
	if info.MessageCount < count/2 {
		t.Errorf("a client that does not read was given %d of %d messages", count-info.MessageCount, count)
	}
	stuck.nc.Close()
	for deadline := time.Now().Add(answerTimeout); info.MessageCount < count; {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d messages are ready after the consumer is gone", info.MessageCount, count)
		}
		info = c.declare(1, amqpwire.QueueDeclare{Queue: "q", Passive: true})
	}
}

// TestRepliesToAClientThatNeverReads asks for more answers than may wait: the server must stop
// reading instead of keeping them.
func TestRepliesToAClientThatNeverReads(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.login()
	c.open(1)
	publish := amqpwire.AppendPublish(nil, 1, "", "nowhere", true, []byte{0, 0}, []byte(strings.Repeat("x", 50_000)), 131072)
	c.nc.SetWriteDeadline(time.Now().Add(3 * time.Second)) //nolint:errcheck // a socket of ours
	sent := 0
	for ; sent < 2000; sent++ { // 100 MB of returns
		if _, err := c.nc.Write(publish); err != nil {
			break
		}
	}
	if sent == 2000 {
		t.Error("the server took everything from a client that reads nothing")
	}
}
