package queues

import "testing"

// TestBatcherRoom checks that the messages of a read take no more than a few times their size in
// memory: a message that stays in a queue keeps its chunk alive.
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
