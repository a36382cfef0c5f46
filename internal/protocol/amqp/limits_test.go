package amqp

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// TestBlockedWithoutTheCapability checks that a client that does not understand connection.blocked
// just waits, and then continues.
func TestBlockedWithoutTheCapability(t *testing.T) {
	n := startNode(t, Options{}, broker.Options{})
	c := n.login()
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "q"})
	c.open(2)
	c.call(2, &amqpwire.ConfirmSelect{}, &amqpwire.ConfirmSelectOk{})
	n.raiseAlarm()
	c.publish(2, "", "q", false, message.Properties{}, "") // without a body: accepted
	if a := expect[*amqpwire.BasicAck](c, 2); a.DeliveryTag != 1 {
		t.Fatalf("%+v", a)
	}
	c.publish(2, "", "q", false, message.Properties{}, "second")
	n.disk.SetFull(false)
	if a := expect[*amqpwire.BasicAck](c, 2); a.DeliveryTag != 2 { // and no other frame came before
		t.Fatalf("%+v", a)
	}
}

// TestLongLogin sends a long token: 60 KB of start-ok are accepted, and the server does not wait
// for a frame beyond 64 KiB.
func TestLongLogin(t *testing.T) {
	n := startNode(t, Options{Shared: protocol.Shared{LoginDelay: -1}}, broker.Options{})
	for size, want := range map[int]string{
		60_000: "403 ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.",
		70_000: "501 FRAME_ERROR - type 1, all octets = <<>>: {frame_too_large,70075,65528}",
	} {
		c := n.dial()
		c.write([]byte(amqpwire.ProtocolHeader))
		expect[*amqpwire.ConnectionStart](c, 0)
		m := &amqpwire.ConnectionStartOk{
			Mechanism: "PLAIN", Response: []byte("\x00guest\x00" + strings.Repeat("t", size)), ClientProperties: message.Table{
				{Name: "capabilities", Value: message.Table{{Name: "authentication_failure_close", Value: true}}},
			},
		}
		go c.nc.Write(amqpwire.AppendMethodFrame(nil, 0, m)) //nolint:errcheck // the answer shows the outcome
		if got := c.connectionClosed(); got != want {
			t.Errorf("%d bytes: got %s", size, got)
		}
	}
}
