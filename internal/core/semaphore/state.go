package semaphore

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"iter"
	"math"
	"slices"
)

// ErrOrder is returned when the order is to change while there are tasks.
var ErrOrder = errors.New("semaphore: the order cannot change while there are tasks")

// State is the tasks of one semaphore.
type State struct {
	config Config
	next   uint64
	tasks  []Task // in order
}

// New returns a semaphore without tasks.
func New(c Config) *State { return &State{config: c, next: 1} }

// Config is what the rule goes by.
func (s *State) Config() Config { return s.config }

// Configure changes it; Next then tells what follows. Errors: ErrOrder.
func (s *State) Configure(c Config) error {
	if c.Ascending != s.config.Ascending && len(s.tasks) > 0 {
		return ErrOrder
	}
	s.config = c
	return nil
}

func (s *State) compare(a, b Task) int {
	c := cmp.Compare(b.Priority, a.Priority)
	if s.config.Ascending {
		c = -c
	}
	return cmp.Or(c, cmp.Compare(a.Seq, b.Seq))
}

func (s *State) find(id string) int {
	return slices.IndexFunc(s.tasks, func(t Task) bool { return t.ID == id })
}

// Put sets a task, whether it is there or not: its priority, status, lease, owner and end. Seq and Enqueued of one that is there stay; a new one with Seq 0
// gets the next number. A task that waits has no end.
func (s *State) Put(t Task) (added bool) {
	if i := s.find(t.ID); i >= 0 {
		t.Seq, t.Enqueued = s.tasks[i].Seq, s.tasks[i].Enqueued
		s.tasks = slices.Delete(s.tasks, i, i+1)
	} else {
		added = true
		if t.Seq == 0 {
			t.Seq = s.next
		}
		s.next = max(s.next, t.Seq+1)
	}
	t.Priority += 0 // -0 is 0
	if t.Status == Wait {
		t.Until = 0
	}
	i, _ := slices.BinarySearchFunc(s.tasks, t, s.compare)
	s.tasks = slices.Insert(s.tasks, i, t)
	return added
}

// Remove takes a task away, and returns what it was.
func (s *State) Remove(id string) (was Task, ok bool) {
	i := s.find(id)
	if i < 0 {
		return Task{}, false
	}
	was = s.tasks[i]
	s.tasks = slices.Delete(s.tasks, i, i+1)
	return was, true
}

// Get returns a task.
func (s *State) Get(id string) (Task, bool) {
	if i := s.find(id); i >= 0 {
		return s.tasks[i], true
	}
	return Task{}, false
}

// SetStatus sets a task's status and its end, and tells whether it is there. A task that waits has no end.
func (s *State) SetStatus(id string, st Status, until int64) bool {
	t, ok := s.Get(id)
	if ok {
		t.Status, t.Until = st, until
		s.Put(t)
	}
	return ok
}

// Next returns the next transition that the rule wants in the present state, until there is none. It changes nothing: the caller does that with SetStatus.
func (s *State) Next() (Transition, bool) {
	active, running := s.config.Active, len(s.tasks)-s.Count(Wait)
	if i := s.first(Wait); running < active && i >= 0 {
		return Transition{s.tasks[i].ID, EventAcquired}, true
	}
	outranked := 0
	for i := min(active, len(s.tasks)); i < len(s.tasks); i++ {
		if s.tasks[i].Status != Wait {
			outranked++
		}
	}
	want, asked := min(outranked, s.config.TryRelease), s.Count(TryRelease)
	best, lowest := s.first(TryRelease), s.last(Acquired)
	switch {
	case asked > want || asked == want && asked > 0 && best < lowest:
		return Transition{s.tasks[best].ID, EventRetained}, true
	case asked < want:
		return Transition{s.tasks[lowest].ID, EventTryRelease}, true
	}
	return Transition{}, false
}

func (s *State) first(st Status) int {
	return slices.IndexFunc(s.tasks, func(t Task) bool { return t.Status == st })
}

func (s *State) last(st Status) int {
	for i := len(s.tasks) - 1; i >= 0; i-- {
		if s.tasks[i].Status == st {
			return i
		}
	}
	return -1
}

// Len is the number of tasks.
func (s *State) Len() int { return len(s.tasks) }

// Count is the number of tasks with a status.
func (s *State) Count(st Status) int {
	n := 0
	for _, t := range s.tasks {
		if t.Status == st {
			n++
		}
	}
	return n
}

// Position is where a task stands in the order of all, from 1; 0: it is not there.
func (s *State) Position(id string) int { return s.find(id) + 1 }

// From are the tasks in their order, from a position on, which counts from 1. Nothing may change meanwhile.
func (s *State) From(position int) iter.Seq[Task] {
	return slices.Values(s.tasks[min(max(position-1, 0), len(s.tasks)):])
}

// NextEnd is the first end of a running task, in unix ms; math.MaxInt64: there is none.
func (s *State) NextEnd() int64 {
	end := int64(math.MaxInt64)
	for _, t := range s.tasks {
		if t.Until > 0 {
			end = min(end, t.Until)
		}
	}
	return end
}

// Ended are the running tasks whose end has come, at most max, those that ended earlier first, and of equals those that came earlier.
func (s *State) Ended(now int64, max int) []string {
	return s.ids(max, func(a, b Task) int { return cmp.Or(cmp.Compare(a.Until, b.Until), cmp.Compare(a.Seq, b.Seq)) },
		func(t Task) bool { return t.Until > 0 && t.Until <= now })
}

// Owned are the tasks of an owner, in the order in which they came.
func (s *State) Owned(owner int64) []string {
	return s.ids(len(s.tasks), func(a, b Task) int { return cmp.Compare(a.Seq, b.Seq) }, func(t Task) bool { return t.Owner == owner })
}

func (s *State) ids(most int, order func(a, b Task) int, which func(Task) bool) []string {
	var found []Task
	for _, t := range s.tasks {
		if which(t) {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, order)
	var ids []string
	for _, t := range found[:min(most, len(found))] {
		ids = append(ids, t.ID)
	}
	return ids
}

// Owners are the owners of tasks, each once, in no order.
func (s *State) Owners() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		seen := map[int64]bool{0: true}
		for _, t := range s.tasks {
			if !seen[t.Owner] {
				seen[t.Owner] = true
				if !yield(t.Owner) {
					return
				}
			}
		}
	}
}

// NextSeq is the number that the next new task gets.
func (s *State) NextSeq() uint64 { return s.next }

// SetNextSeq sets it, when a state is put back.
func (s *State) SetNextSeq(n uint64) { s.next = n }

// Bytes is about what the state takes in memory.
func (s *State) Bytes() int64 { return int64(100 + 100*cap(s.tasks)) }

// Hash is a hash of all that the state keeps; equal states have equal hashes.
func (s *State) Hash() uint64 {
	h := fnv.New64a()
	var b []byte
	for _, t := range s.tasks {
		b = binary.AppendUvarint(b[:0], uint64(len(t.ID)))
		b = append(b, t.ID...)
		for _, v := range []uint64{math.Float64bits(t.Priority), uint64(t.Status), uint64(t.Enqueued), t.Seq, uint64(t.Lease), uint64(t.Until), uint64(t.Owner)} {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		h.Write(b)
	}
	return h.Sum64()
}
