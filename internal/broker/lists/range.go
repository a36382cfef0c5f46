package lists

import (
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/bodies"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Range reads the ready messages at some positions of a queue, and changes nothing: 0 is the first
// that would be taken, -1 the last. Errors: ErrTooLarge if they would take more than a quarter of
// the memory that the broker may use.
type Range struct {
	broker.OnQueue
	First, Last int
	Back        bool     // count positions from the other end, and return Bodies in that order: 0 is the last that would be taken
	Bodies      [][]byte // must not be changed

	page  []message.Envelope
	later bodies.Later // by index in page
}

// Find implements broker.Command.
func (r *Range) Find(f broker.Finder) (*shard.Queue, error) {
	return f.Queue(broker.Reading, r.Queue, false)
}

// Run implements broker.Command.
func (r *Range) Run(at shard.Context) error {
	r.Bodies, r.page, r.later = nil, nil, bodies.Later{}
	first, n := window(r.First, r.Last, ready(at), r.Back)
	if n == 0 {
		return nil
	}
	size := int64(0)
	at.Deliveries().Window(first, n, func(it *queue.Item) {
		if size += shard.ShownBytes + int64(it.Size); size > at.LookBytes() && n > 1 {
			return
		}
		r.page = append(r.page, r.later.Load(at.Bodies(), it, len(r.page)))
	})
	if size > at.LookBytes() && n > 1 {
		r.page, r.later = nil, bodies.Later{}
		return at.Queue().Fail(failure.ErrTooLarge)
	}
	return nil
}

// Finish reads the bodies that are only on disk. It omits those that cannot be read: usually they
// were taken meanwhile.
func (r *Range) Finish(*broker.Session) {
	r.later.Read(func(i int, env message.Envelope) { r.page[i] = env })
	r.Bodies = make([][]byte, 0, len(r.page))
	for _, env := range r.page {
		if env != nil {
			r.Bodies = append(r.Bodies, env.Body())
		}
	}
	if r.Back {
		slices.Reverse(r.Bodies)
	}
	r.page = nil
}

// ready brings the queue up to the present time and returns how many messages are ready. The queue
// counts as used.
func ready(at shard.Context) int {
	at.Use()
	at.Deliveries().Due(at.Now())
	return at.Deliveries().Ready()
}

// window turns positions among size messages, negative ones counted from the end, into the first
// position from the head and a count.
func window(first, last, size int, back bool) (from, n int) {
	if first < 0 {
		first = max(first+size, 0)
	}
	if last < 0 {
		last += size
	}
	last = min(last, size-1)
	if first > last {
		return 0, 0
	}
	if n = last - first + 1; back {
		return size - 1 - last, n
	}
	return first, n
}
