package amqp

import (
	"bytes"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// TestHeartbeatsTwiceAnInterval checks that a client receives something in each half of an
// interval, even after another frame. Some clients wait no longer than an interval.
func TestHeartbeatsTwiceAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := bubbleUp(t, Options{})()
		c.heartbeat = uint16(beat / time.Second)
		c.login()
		want := amqpwire.AppendHeartbeat(nil)
		for channel := range uint16(4) {
			heard := time.Now()
			got := make([]byte, len(want))
			if _, err := io.ReadFull(c.nc, got); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("got %x %v, want a heartbeat", got, err)
			}
			if silent := time.Since(heard); silent > beat/2 {
				t.Fatalf("it heard nothing for %v", silent)
			}
			c.open(channel + 1)
		}
	})
}
