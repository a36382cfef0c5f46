package semaphore

import (
	"cmp"
	"slices"

	"fiveways.dev/fiveways/internal/core/heap"
)

// hold is what only some tasks have: a lease of their own, an end, an owner.
type hold struct {
	lease int64
	until int64
	owner int64
	task  uint32
	heap  uint32 // index in ends, from 1; 0: no end
	next  uint32 // next hold of its owner, from 1; 0: none
	prev  uint32 // previous hold of its owner, from 1; 0: none
}

// holds stores holds densely, with a heap of the ends and a list for each owner.
type holds struct {
	slab   slab[hold]
	ends   heap.Heap[uint32, endOrder]
	owners map[int64]uint32 // first hold of each owner, from 1
}

// holdOf returns the hold of a task, the zero value if it has none.
func (s *State) holdOf(r *record) hold {
	if r.hold == 0 {
		return hold{}
	}
	return *s.holds.slab.at(r.hold - 1)
}

// setHold sets the lease, end and owner of a task.
func (s *State) setHold(task uint32, lease, until, owner int64) {
	r := s.records.at(task)
	if lease == 0 && until == 0 && owner == 0 {
		if r.hold != 0 {
			s.dropHold(r.hold - 1)
			r.hold = 0
		}
		return
	}
	if r.hold == 0 {
		r.hold = s.holds.slab.push(hold{task: task}) + 1
	}
	i := r.hold - 1
	h := s.holds.slab.at(i)
	h.lease = lease
	if h.owner != owner {
		s.holds.leave(i)
		s.holds.join(i, owner)
	}
	if h.until != until {
		h.until = until
		s.fixEnd(i)
	}
}

// dropHold removes a hold and moves the last hold into its place.
func (s *State) dropHold(i uint32) {
	s.holds.leave(i)
	h := s.holds.slab.at(i)
	h.until = 0
	s.fixEnd(i)
	if last := s.holds.slab.n - 1; last != i {
		*h = *s.holds.slab.at(last)
		s.records.at(h.task).hold = i + 1
		if h.heap != 0 {
			s.holds.ends[h.heap-1] = i
		}
		if h.next != 0 {
			s.holds.slab.at(h.next - 1).prev = i + 1
		}
		if h.prev != 0 {
			s.holds.slab.at(h.prev - 1).next = i + 1
		} else if h.owner != 0 {
			s.holds.owners[h.owner] = i + 1
		}
	}
	s.holds.slab.pop()
}

// join adds a hold to the list of an owner.
func (hs *holds) join(i uint32, owner int64) {
	h := hs.slab.at(i)
	h.owner = owner
	if owner == 0 {
		return
	}
	if hs.owners == nil {
		hs.owners = map[int64]uint32{}
	}
	if h.next = hs.owners[owner]; h.next != 0 {
		hs.slab.at(h.next - 1).prev = i + 1
	}
	hs.owners[owner] = i + 1
}

// leave removes a hold from the list of its owner.
func (hs *holds) leave(i uint32) {
	h := hs.slab.at(i)
	if h.owner == 0 {
		return
	}
	if h.next != 0 {
		hs.slab.at(h.next - 1).prev = h.prev
	}
	switch {
	case h.prev != 0:
		hs.slab.at(h.prev - 1).next = h.next
	case h.next != 0:
		hs.owners[h.owner] = h.next
	default:
		delete(hs.owners, h.owner)
		if len(hs.owners) == 0 {
			hs.owners = nil // a map does not release its memory
		}
	}
	h.owner, h.next, h.prev = 0, 0, 0
}

// endOrder orders the holds with an end by (until, Seq).
type endOrder struct{ *State }

var _ heap.Order[uint32] = endOrder{}

func (o endOrder) Before(i, j uint32) bool {
	a, b := o.holds.slab.at(i), o.holds.slab.at(j)
	return a.until < b.until || a.until == b.until && o.records.at(a.task).seq() < o.records.at(b.task).seq()
}

func (o endOrder) Moved(i uint32, index int) { o.holds.slab.at(i).heap = uint32(index) }

// fixEnd moves a hold to the right place in the heap of ends, or removes it from the heap if it has
// no end.
func (s *State) fixEnd(i uint32) {
	h, ends := s.holds.slab.at(i), &s.holds.ends
	if h.until != 0 {
		ends.FixBy(endOrder{s}, i, int(h.heap))
		return
	}
	ends.RemoveBy(endOrder{s}, int(h.heap))
	if n := cap(*ends); n > 16 && len(*ends) < n/4 {
		*ends = append(make([]uint32, 0, n/2), *ends...) // a slice does not release its memory
	}
}

// ended returns, in order, at most this many holds that end at now or earlier. It does not change
// the heap: the next hold is always among the children of those found.
func (s *State) ended(now int64, most int) (found []uint32) {
	ends, order := s.holds.ends, endOrder{s}
	var next []int // candidates for the next in order, as heap indices, the first last
	add := func(at int) {
		if at >= len(ends) || s.holds.slab.at(ends[at]).until > now {
			return
		}
		i, _ := slices.BinarySearchFunc(next, at, func(a, b int) int {
			if order.Before(ends[a], ends[b]) {
				return 1
			}
			return -1
		})
		next = slices.Insert(next, i, at)
	}
	for add(0); len(next) > 0 && len(found) < most; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		found = append(found, ends[at])
		add(2*at + 1)
		add(2*at + 2)
	}
	return found
}

// owned returns at most this many tasks of an owner, in order of arrival.
func (s *State) owned(owner int64, most int) (tasks []uint32) {
	for i := s.holds.owners[owner]; i != 0 && len(tasks) < most; {
		h := s.holds.slab.at(i - 1)
		tasks = append(tasks, h.task)
		i = h.next
	}
	slices.SortFunc(tasks, func(a, b uint32) int { return cmp.Compare(s.records.at(a).seq(), s.records.at(b).seq()) })
	return tasks
}
