package amqp

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/logtest"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// panicLog panics on one message: a failure on the goroutine that logs it.
type panicLog struct {
	slog.Handler
	at string
}

func (l panicLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == l.at {
		panic("the log is out of paper")
	}
	return l.Handler.Handle(ctx, r)
}

// TestPanicEndsOneConnection checks that a panic costs one client its connection and is logged,
// that everything it held is released, and that other clients notice nothing.
func TestPanicEndsOneConnection(t *testing.T) {
	var log logtest.Text
	paper := slog.New(panicLog{slog.NewTextHandler(&log, nil), "amqp: new secret refused"})
	n := startNode(t, Options{Shared: protocol.Shared{Log: paper}}, broker.Options{})
	other, c := n.login(), n.login()
	other.open(1)
	other.declare(1, amqpwire.QueueDeclare{Queue: "q"})
	other.publish(1, "", "q", false, message.Properties{}, "m")
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "own", Exclusive: true})
	c.call(1, &amqpwire.BasicConsume{Queue: "q", ConsumerTag: "c"}, &amqpwire.BasicConsumeOk{ConsumerTag: "c"})
	c.delivery(1)

	if err := n.b.DeletePermission("guest", "/"); err != nil { // the new secret is then refused
		t.Fatal(err)
	}
	c.send(0, &amqpwire.ConnectionUpdateSecret{NewSecret: []byte("guest")})
	if got := c.connectionClosed(); got != "541 INTERNAL_ERROR" {
		t.Errorf("the client hears %s", got)
	}
	for _, part := range []string{"a connection failed", "the log is out of paper", "updateSecret", "peer=127.0.0.1:"} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("no %q in the log: %s", part, log.String())
		}
	}
	n.user("guest", catalog.Permission{Configure: ".*", Write: ".*", Read: ".*"})
	other.call(1, &amqpwire.BasicConsume{Queue: "q", ConsumerTag: "o"}, &amqpwire.BasicConsumeOk{ConsumerTag: "o"})
	if d, body := other.delivery(1); body != "m" || !d.Redelivered {
		t.Errorf("%q, redelivered %v", body, d.Redelivered)
	}
	other.declare(1, amqpwire.QueueDeclare{Queue: "own", Exclusive: true})
	n.login()
}
