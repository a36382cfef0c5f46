package amqp

import "testing"

// A connection on which nothing else is written gets a heartbeat at each look, that is, two in an
// interval, so that a client which waits two intervals may miss three of them.
func TestHeartbeatsTwiceAnInterval(t *testing.T) {
	var h heartbeat
	writes := uint64(0)
	for i, look := range []struct {
		written uint64 // by others since the last look
		pending bool
		due     bool
	}{
		{0, false, true}, {0, false, true}, {0, false, true}, // quiet: at each look
		{1, false, false}, {0, false, true}, // a delivery says as much as a heartbeat
		{0, true, false}, {1, false, false}, {0, false, true}, // and so does one that is being written
	} {
		writes += look.written
		if got := h.due(writes, look.pending); got != look.due {
			t.Errorf("look %d: due %v, want %v", i, got, look.due)
		}
		if look.due {
			writes++ // the heartbeat is written
		}
	}
}
