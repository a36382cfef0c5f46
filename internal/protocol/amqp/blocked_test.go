package amqp

import (
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// raiseAlarm publishes a durable message to a full disk, and returns once publishers are blocked.
func (n *node) raiseAlarm() {
	n.t.Helper()
	c := n.login()
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "kept", Durable: true})
	n.disk.SetFull(true)
	c.publish(1, "", "kept", false, persistent, "what does not fit")
	for n.b.Alarm() == nil {
		select { // the watchdog looks four times a second
		case <-n.t.Context().Done():
			n.t.Fatal("no alarm")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// frames returns the frames of one publish, split so that each fits a frame of 4096 bytes.
func frames(t *testing.T, body string) (all [][]byte) {
	t.Helper()
	var none message.Properties
	rest := amqpwire.AppendPublish(nil, 1, "", "q", false, none.Append(nil), []byte(body), 4096)
	for len(rest) > 0 {
		_, n, err := amqpwire.ParseFrame(rest, 4096)
		if err != nil {
			t.Fatal(err)
		}
		all, rest = append(all, rest[:n]), rest[n:]
	}
	return all
}

// TestMessageMeetsAlarm expects what RabbitMQ 3.10.8 did in the same situation (rabbitmqctl
// set_vm_memory_high_watermark): a message is held back after the frame of its content that arrived
// during the alarm.
func TestMessageMeetsAlarm(t *testing.T) {
	for _, step := range []struct {
		name          string
		bodies        []string // of the publishes
		before        int      // number of frames sent before the alarm
		taken, behind uint64   // publishes confirmed during the alarm, and after it
	}{
		{"with a body", []string{"one"}, 0, 0, 1},
		{"without a body", []string{""}, 0, 1, 0},
		{"three without a body", []string{"", "", ""}, 0, 1, 3},
		{"the method came before", []string{"one"}, 1, 0, 1},
		{"the header came before", []string{"one"}, 2, 1, 0},
		{"the header came before two frames of its body", []string{strings.Repeat("x", 8000)}, 2, 0, 1},
		{"half of the body came before", []string{strings.Repeat("x", 8000)}, 3, 1, 0},
	} {
		t.Run(step.name, func(t *testing.T) {
			n := startNode(t, Options{}, broker.Options{})
			c := n.login("connection.blocked")
			c.open(1)
			c.declare(1, amqpwire.QueueDeclare{Queue: "q"})
			c.call(1, &amqpwire.ConfirmSelect{}, &amqpwire.ConfirmSelectOk{})
			var all [][]byte
			for _, body := range step.bodies {
				all = append(all, frames(t, body)...)
			}
			for _, f := range all[:step.before] {
				c.write(f)
			}
			c.open(2) // the answer shows that they were read
			n.raiseAlarm()
			for _, f := range all[step.before:] {
				c.write(f)
			}
			if m := expect[*amqpwire.ConnectionBlocked](c, 0); m.Reason != broker.LowOnDisk {
				t.Errorf("%+v", m)
			}
			c.confirmed(step.taken)
			look := n.login()
			look.open(1)
			look.call(1, &amqpwire.QueueDeclare{Queue: "q", Passive: true}, &amqpwire.QueueDeclareOk{Queue: "q", MessageCount: uint32(step.taken)})
			n.disk.SetFull(false)
			expect[*amqpwire.ConnectionUnblocked](c, 0)
			c.confirmed(step.behind)
		})
	}
}

// confirmed expects confirms of all publishes up to upTo, in one or several; 0 expects none.
func (c *client) confirmed(upTo uint64) {
	c.t.Helper()
	for last := uint64(0); last < upTo; {
		last = expect[*amqpwire.BasicAck](c, 1).DeliveryTag
		if last > upTo {
			c.t.Errorf("got a confirm of %d, want up to %d", last, upTo)
		}
	}
}
