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

// TestHeartbeatsOfConnectionsAreTogether checks that connections that were opened at different
// times get their heartbeats at the same moments.
func TestHeartbeatsOfConnectionsAreTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := bubbleUp(t, Options{})
		var all [3]*client
		for i := range all {
			all[i] = dial()
			all[i].heartbeat = 60
			all[i].login()
			<-time.After(300 * time.Millisecond)
		}
		opened := time.Now()
		for range 2 {
			var at [len(all)]time.Time
			for i, c := range all {
				got := make([]byte, len(amqpwire.AppendHeartbeat(nil)))
				if _, err := io.ReadFull(c.nc, got); err != nil {
					t.Fatal(err)
				}
				at[i] = time.Now()
			}
			if at[0] != at[1] || at[1] != at[2] || at[0].Sub(opened) > 30*time.Second {
				t.Errorf("heartbeats at %v, opened at %v", at, opened)
			}
			opened = at[0]
		}
	})
}
