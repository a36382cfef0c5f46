package broker

import (
	"slices"

	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// Range looks at the ready messages at some places of a queue: 0 is the first that would be taken,
// -1 the last. Looking changes nothing. Errors: ErrTooLarge, when they would take more than a
// quarter of the memory that the broker may use.
type Range struct {
	OnQueue
	First, Last int
	Back        bool     // places count from the other end, and Bodies have that order: 0 is the last that would be taken
	Bodies      [][]byte // not to be changed

	page  []message.Envelope
	later Later // by the place in page
}

func (r *Range) Find(f Finder) (*Queue, error) { return f.s.readableList(r.Queue, false) }

func (r *Range) Run(at Context) error {
	sh, q := at.sh, at.q
	r.Bodies, r.page, r.later = nil, nil, Later{}
	q.used(sh.now)
	q.state.Due(sh.now)
	first, n := window(r.First, r.Last, q.state.Ready(), r.Back)
	if n == 0 {
		return nil
	}
	size := int64(0)
	q.state.Window(first, n, func(it *queue.Item) {
		if size += ShownBytes + int64(it.Size); size > sh.b.lookBytes && n > 1 {
			return
		}
		r.page = append(r.page, r.later.Load(at, it, len(r.page)))
	})
	if size > sh.b.lookBytes && n > 1 {
		r.page, r.later = nil, Later{}
		return q.tooMuch()
	}
	return nil
}

// tooMuch is the error of a look at more than there may be room for.
func (q *Queue) tooMuch() error {
	return &Error{Err: ErrTooLarge, Kind: "queue", Name: q.Name, VHost: q.vhost.Name}
}

// finish reads the bodies that are only on disk. One that cannot be read is left out: mostly it was
// taken meanwhile.
func (r *Range) Finish(*Session) {
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

// window turns places among size messages, negative ones counted from the end, into the first place
// from the head and how many there are.
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
