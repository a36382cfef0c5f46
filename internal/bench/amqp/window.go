package amqp

import (
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/bench/latency"
)

// window holds the messages of a publisher that wait for a confirm. A limit of 0 means no confirms:
// no message waits.
type window struct {
	mu   sync.Mutex
	room sync.Cond
	// due[seq % len] is when message seq was due, or settled. Invariants: low <= seq < next for all
	// waiting messages, and next-low <= len(due).
	due    []time.Duration
	low    uint64 // oldest publish sequence number not confirmed
	next   uint64 // the next one to send; AMQP counts from 1
	closed bool

	latency latency.Histogram // of confirmed messages
	nacked  uint64
}

const settled = time.Duration(-1)

func newWindow(limit int) *window {
	w := &window{due: make([]time.Duration, limit), low: 1, next: 1}
	w.room.L = &w.mu
	return w
}

// acquire waits until messages may be sent, and returns how many of want, or 0 after close. If want
// is that large, it first waits for a quarter of the window to be free. Otherwise, with a broker
// that confirms one by one, every write would carry a single message.
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

// sent records messages that acquire allowed. It must be called before they are written.
func (w *window) sent(due []time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range due {
		w.due[w.next%uint64(len(w.due))] = d
		w.next++
	}
}

// settle handles an ack or nack of the broker that arrived at now. It returns how many messages it
// answered, or 0 for a tag that is not waiting.
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

// close wakes a waiting acquire. All later calls return 0.
func (w *window) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.room.Broadcast()
}
