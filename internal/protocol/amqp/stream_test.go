package amqp

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// TestReadsStream checks that each delivery of a stream has its offset, whatever headers it was
// published with, and that nack is refused and ends the connection. The answers to wrong arguments
// are in test/oracle/testdata/streams.txt.
func TestReadsStream(t *testing.T) {
	c := startNode(t, Options{}, broker.Options{}).login()
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "s", Durable: true, Arguments: message.Table{{Name: "x-queue-type", Value: "stream"}}})
	bodies := []string{"first", "", strings.Repeat("x", 300_000)}
	for i, body := range bodies {
		p := message.Properties{}
		if i == 1 {
			p = message.Properties{Flags: message.HasHeaders, Headers: message.Table{{Name: "x-stream-offset", Value: "none"}, {Name: "a", Value: "b"}}}
		}
		c.publish(1, "", "s", false, p, body)
	}
	c.call(1, &amqpwire.BasicQos{PrefetchCount: 10}, &amqpwire.BasicQosOk{})
	c.call(1, &amqpwire.BasicConsume{Queue: "s", ConsumerTag: "t", Arguments: message.Table{{Name: "x-stream-offset", Value: "first"}}},
		&amqpwire.BasicConsumeOk{ConsumerTag: "t"})
	for i, want := range bodies {
		expect[*amqpwire.BasicDeliver](c, 1)
		props, body := c.content()
		if offset, _ := props.Headers.Get("x-stream-offset"); offset != int64(i) || body != want {
			t.Errorf("message %d has offset %v and %d bytes, want %d", i, offset, len(body), len(want))
		}
		if other, _ := props.Headers.Get("a"); i == 1 && other != "b" {
			t.Errorf("the other header is %v", other)
		}
	}
	c.send(1, &amqpwire.BasicNack{DeliveryTag: 1})
	want := closeText(540, "NOT_IMPLEMENTED - basic.nack and basic.reject not supported by stream queues queue 's' in vhost '/'")
	if got := c.connectionClosed(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
