package amqp

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

func TestServerNames(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.login()
	c.open(1)
	const random = 22
	prefixed := func(v any) amqpwire.QueueDeclare {
		return amqpwire.QueueDeclare{Exclusive: true, Arguments: message.Table{{Name: "x-name-prefix", Value: v}}}
	}
	for _, prefix := range []string{"jobs.", "", strings.Repeat("p", 64)} {
		ok := c.declare(1, prefixed(prefix))
		if !strings.HasPrefix(ok.Queue, prefix) || len(ok.Queue) != len(prefix)+random {
			t.Errorf("prefix %q: %q", prefix, ok.Queue)
		}
	}
	named := prefixed("unused.")
	named.Queue = "mine"
	if ok := c.declare(1, named); ok.Queue != "mine" {
		t.Errorf("a queue with a name: %q", ok.Queue)
	}
	if ok := c.declare(1, amqpwire.QueueDeclare{Exclusive: true}); len(ok.Queue) != len("amq.gen-")+random {
		t.Errorf("without a prefix: %q", ok.Queue)
	}
	for want, v := range map[string]any{
		"406 PRECONDITION_FAILED - invalid arg 'x-name-prefix' for queue '' in vhost '/': {unacceptable_type,signedint}": int32(5),
		"406 PRECONDITION_FAILED - invalid arg 'x-name-prefix' for queue '' in vhost '/': {max_value_exceeded,65}":       strings.Repeat("p", 65),
		"403 ACCESS_REFUSED - queue name 'amq.x' contains reserved prefix 'amq.*'":                                       "amq.x",
	} {
		c.open(2)
		m := prefixed(v)
		c.send(2, &m)
		if got := c.channelClosed(2); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
