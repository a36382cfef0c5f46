package amqp

import (
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// beat is the heartbeat interval of these tests. A client that sends heartbeats but does not read
// must be ended by the stuck write, not by silence.
const beat = 10 * time.Second

// stuckAfter is when the connection of a client that reads nothing ends, because the write that
// waits begins with the delivery.
const stuckAfter = stuckWrite

// stuckClient consumes from queue q and does not read the message that it has been sent. alive
// sends its heartbeats.
func stuckClient(t *testing.T, connect func() *client) (c *client, begin time.Time, alive func() error) {
	t.Helper()
	c = connect()
	c.heartbeat = uint16(beat / time.Second)
	c.login()
	c.open(1)
	c.declare(1, amqpwire.QueueDeclare{Queue: "q"})
	c.consume(1, "q", "stuck", nil)
	c.publish(1, "", "q", false, message.Properties{}, "a message that nobody reads")
	synctest.Wait()
	return c, time.Now(), func() error {
		_, err := c.nc.Write(amqpwire.AppendHeartbeat(nil))
		return err
	}
}

// TestWriteTimeout checks that the connection of a client that never reads is closed, and that
// others get its messages.
func TestWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connect := bubbleUp(t, Options{})
		_, begin, alive := stuckClient(t, connect)
		for time.Since(begin) < stuckAfter-time.Second {
			if err := alive(); err != nil {
				t.Fatalf("ended after %v: %v", time.Since(begin), err)
			}
			time.Sleep(beat / 10)
			synctest.Wait()
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if alive() == nil {
			t.Errorf("still there after %v", time.Since(begin))
		}
		other := connect()
		other.login()
		other.open(1)
		other.send(1, &amqpwire.BasicGet{Queue: "q"})
		if got := expect[*amqpwire.BasicGetOk](other, 1); !got.Redelivered {
			t.Error("the message is not marked as delivered before")
		}
		other.content()
	})
}

// TestSlowReadersStay checks that a client that reads slowly stays connected.
func TestSlowReadersStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, begin, alive := stuckClient(t, bubbleUp(t, Options{}))
		one := make([]byte, 1)
		for time.Since(begin) < 5*stuckAfter {
			if time.Since(begin)%(stuckWrite/2) == 0 {
				if _, err := c.nc.Read(one); err != nil {
					t.Fatalf("read after %v: %v", time.Since(begin), err)
				}
			}
			if err := alive(); err != nil {
				t.Fatalf("ended after %v: %v", time.Since(begin), err)
			}
			time.Sleep(beat / 2)
			synctest.Wait()
		}
	})
}
