package amqp

import (
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/bench/latency"
)

// window holds the messages of one publisher that wait for a confirm. With a limit of 0 there are
// no confirms and nothing waits.
type window struct {
	mu   sync.Mutex
	room sync.Cond
	// due[seq % len] is when message seq was due, or settled. Invariant: low <= seq < next for all
	// that wait, next-low <= len(due).
	due    []time.Duration
	low    uint64 // oldest publish sequence number not confirmed
	next   uint64 // the next one to send; AMQP counts from 1
	closed bool

	latency latency.Histogram // of the confirmed ones
	nacked  uint64
}

const settled = time.Duration(-1)

func newWindow(limit int) *window {
	w := &window{due: make([]time.Duration, limit), low: 1, next: 1}
	w.room.L = &w.mu
	return w
}

// acquire waits until messages may be sent and returns how many of want; 0 after close. It lets a
// quarter of the window come free first, if that many are wanted: a broker that confirms one by one
// would otherwise make every write a single message.
func (w *window) acquire(want int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	need := min(want, (len(w.due)+3)/4)
	for !w.closed && len(w.due)-int(w.next-w.low) < need {
		w.room.Wait()
	}
	if w.closed {
		return 0
	}
	return min(want, len(w.due)-int(w.next-w.low))
}

// sent enters a message that acquire allowed; it must come before the message is written.
func (w *window) sent(due []time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range due {
		w.due[w.next%uint64(len(w.due))] = d
		w.next++
	}
}

// settle takes an ack or nack of the broker that arrived at now and returns how many messages it
// answered; 0 for a tag that is not waiting.
func (w *window) settle(tag uint64, multiple, ack bool, now time.Duration) (answered int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if tag < w.low || tag >= w.next {
		return 0
	}
	from := tag
	if multiple {
		from = w.low
	}
	for seq := from; seq <= tag; seq++ {
		d := &w.due[seq%uint64(len(w.due))]
		if *d == settled {
			continue
		}
		if ack {
			w.latency.Record(now - *d)
		} else {
			w.nacked++
		}
		*d = settled
		answered++
	}
	for w.low < w.next && w.due[w.low%uint64(len(w.due))] == settled {
		w.low++
	}
	w.room.Signal()
	return answered
}

// close wakes a waiting acquire for good.
func (w *window) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.room.Broadcast()
}
