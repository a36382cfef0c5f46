package amqp

import (
	"math/rand/v2"
	"testing"

	"fiveways/internal/broker"
	"fiveways/internal/core/message"
	"fiveways/internal/protocol/amqp/amqpwire"
	"fiveways/internal/storage/vfs"
)

// A short string of AMQP is bytes: a name that is not UTF-8 is another one than what it looks like as text, also after
// the broker was killed.
func TestNamesThatAreNotText(t *testing.T) {
	mem := vfs.NewMem()
	n := startNodeOn(t, mem, Options{}, broker.Options{})
	c := n.login()
	c.open(1)
	c.call(1, &amqpwire.ConfirmSelect{}, &amqpwire.ConfirmSelectOk{})
	c.call(1, &amqpwire.ExchangeDeclare{Exchange: "x\xff", Type: "direct", Durable: true}, &amqpwire.ExchangeDeclareOk{})
	deadLetters := message.Table{
		{Name: "x-dead-letter-exchange", Value: "x\xff"}, {Name: "x-dead-letter-routing-key", Value: "dead\xff"},
	}
	c.declare(1, amqpwire.QueueDeclare{Queue: "q\xff", Durable: true, Arguments: deadLetters})
	c.declare(1, amqpwire.QueueDeclare{Queue: "dead\xff", Durable: true})
	c.declare(1, amqpwire.QueueDeclare{Queue: "q\ufffd", Durable: true})
	for queue, key := range map[string]string{"q\xff": "k\xff", "dead\xff": "dead\xff", "q\ufffd": "k\ufffd"} {
		c.call(1, &amqpwire.QueueBind{Queue: queue, Exchange: "x\xff", RoutingKey: key}, &amqpwire.QueueBindOk{})
	}
	c.publish(1, "x\xff", "k\xff", true, persistent, "before")
	expect[*amqpwire.BasicAck](c, 1)

	killed := mem.CrashClone(rand.New(rand.NewPCG(1, 2)))
	c = startNodeOn(t, killed, Options{}, broker.Options{}).login()
	c.open(1)
	c.call(1, &amqpwire.ConfirmSelect{}, &amqpwire.ConfirmSelectOk{})
	again := c.declare(1, amqpwire.QueueDeclare{Queue: "q\xff", Durable: true, Arguments: deadLetters})
	if again.Queue != "q\xff" || again.MessageCount != 1 {
		t.Fatalf("after the restart: %+v", again)
	}
	c.publish(1, "x\xff", "k\xff", true, persistent, "after")
	expect[*amqpwire.BasicAck](c, 1)
	c.call(1, &amqpwire.BasicConsume{Queue: "q\xff", ConsumerTag: "t"}, &amqpwire.BasicConsumeOk{ConsumerTag: "t"})
	for _, want := range []string{"before", "after"} {
		d, body := c.delivery(1)
		if body != want || string(d.Exchange) != "x\xff" || string(d.RoutingKey) != "k\xff" {
			t.Errorf("delivered %q from %q by %q, want %q", body, d.Exchange, d.RoutingKey, want)
		}
		c.send(1, &amqpwire.BasicReject{DeliveryTag: d.DeliveryTag})
	}
	c.call(1, &amqpwire.BasicConsume{Queue: "dead\xff", ConsumerTag: "d"}, &amqpwire.BasicConsumeOk{ConsumerTag: "d"})
	for _, want := range []string{"before", "after"} {
		if d, body := c.delivery(1); body != want || string(d.RoutingKey) != "dead\xff" {
			t.Errorf("dead-lettered %q by %q, want %q", body, d.RoutingKey, want)
		}
	}
	if q := c.declare(1, amqpwire.QueueDeclare{Queue: "q\ufffd", Durable: true}); q.MessageCount != 0 {
		t.Errorf("%d messages in a queue of another name", q.MessageCount)
	}
}
