package amqp

import (
	"context"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// unlessAlarm blocks the connection during an alarm. It is called after each frame of a publish,
// with the outcome of the frame. As in RabbitMQ, the first frame that arrives during the alarm is
// still handled: its message is accepted if the frame completes it, and otherwise waits.
func (c *conn) unlessAlarm(err error) error {
	if alarm := c.srv.broker.Alarm(); alarm != nil && err == nil {
		c.block(alarm.Reason)
	}
	return err
}

// block makes the connection wait for the end of an alarm before it reads on.
func (c *conn) block(reason string) {
	if c.blocked {
		return
	}
	c.blocked = true
	c.client.SetState(protocol.StateBlocked)
	if c.peer.blocked {
		c.send(&amqpwire.ConnectionBlocked{Reason: reason})
	}
}

// awaitTurn makes a publish wait for its turn in the rate limits. Nothing is read meanwhile, and
// earlier operations are executed. If the connection is about to end, the publish is accepted at
// once, because it has been read.
func (c *conn) awaitTurn(p *shard.Publish) {
	r := c.session.Reserve(p)
	if r == nil {
		return
	}
	c.flush()
	c.client.SetState(protocol.StateFlow)
	r.Await(context.Background()) //nolint:errcheck // the publish is accepted in any case
	c.client.SetState(protocol.StateRunning)
}

// awaitAlarmEnd waits for the end of the alarm. It reports whether to continue with what was read.
func (c *conn) awaitAlarmEnd() bool {
	c.flush()
	for {
		alarm := c.srv.broker.Alarm()
		if alarm == nil {
			break
		}
		select {
		case <-alarm.Cleared:
		case <-c.attention: // draining: publishes that were not read are not accepted
			c.blocked = false
			return false
		case <-c.Over():
			c.state = closed
			return false
		}
	}
	c.blocked = false
	c.client.SetState(protocol.StateRunning)
	if c.peer.blocked && c.state == running {
		c.send(&amqpwire.ConnectionUnblocked{})
	}
	return true
}
