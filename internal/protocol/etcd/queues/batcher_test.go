package queues

import "testing"

// TestBatcherRoom takes no more memory for the messages of a read than a few times their size: a
// message that stays in a queue keeps its chunk.
func TestBatcherRoom(t *testing.T) {
	for _, messages := range []int{1, 2, 3, 10, 1000} {
		d, taken := &Batcher{}, 0
		for range messages {
			before := len(d.space)
			d.room(200)
			if before < 200 {
				taken += d.taken
			}
		}
		if most := 200 * messages * 2; taken > most {
			t.Errorf("%d bytes for %d messages of 200", taken, messages)
		}
	}
}
