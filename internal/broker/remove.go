package broker

import (
	"bytes"
	"slices"

	"fiveways/internal/core/queue"
)

// Remove takes the ready messages with a body out of a queue.
type Remove struct {
	OnQueue
	Body    []byte
	Max     int  // at most so many, 0 is all
	Back    bool // those that would be delivered last are found first
	Removed int
}

func (r *Remove) Find(f Finder) (*Queue, error) { return f.s.readableList(r.Queue, false) }

func (r *Remove) Run(at Context) error {
	sh, q := at.sh, at.q
	q.used(sh.now)
	q.state.Due(sh.now)
	var found []queue.Handle
	q.state.Window(0, q.state.Ready(), func(it *queue.Item) {
		if int(it.Size) == len(r.Body) && (r.Back || r.Max == 0 || len(found) < r.Max) && sh.hasBody(it, r.Body) {
			found = append(found, it.Handle)
		}
	})
	if r.Max > 0 && len(found) > r.Max {
		found = found[len(found)-r.Max:]
	}
	r.Removed = len(found)
	sh.settleAll(q, found)
	return nil
}

// hasBody compares a message's body; one that cannot be read has none.
func (sh *shard) hasBody(it *queue.Item, body []byte) bool {
	env := it.Env
	if env == nil {
		var err error
		if env, err = sh.loadAside(it); err != nil {
			return false
		}
	}
	return bytes.Equal(env.Body(), body)
}

// settleAll settles messages that are given in the order of their handles.
func (sh *shard) settleAll(q *Queue, handles []queue.Handle) {
	for len(handles) > 0 {
		n := 1
		for n < len(handles) && handles[n] == handles[0]+queue.Handle(n) {
			n++
		}
		sh.settle(q, handles[0], n)
		handles = handles[n:]
	}
	sh.mark(q)
}

// Trim takes all ready messages out of a queue but those at some places, which are as in Range.
type Trim struct {
	OnQueue
	First, Last int
	Back        bool
}

func (r *Trim) Find(f Finder) (*Queue, error) { return f.s.readableList(r.Queue, false) }

func (r *Trim) Run(at Context) error {
	sh, q := at.sh, at.q
	q.used(sh.now)
	q.state.Due(sh.now)
	size := q.state.Ready()
	from, n := window(r.First, r.Last, size, r.Back)
	var gone []queue.Handle
	drop := func(it *queue.Item) { gone = append(gone, it.Handle) }
	q.state.Window(0, from, drop)
	q.state.Window(from+n, size-from-n, drop)
	slices.Sort(gone)
	sh.settleAll(q, gone)
	return nil
}
