package semaphore

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"iter"
	"maps"
	"math"

	"fiveways.dev/fiveways/internal/core/invariants"
)

// ErrOrder is returned when Configure would change the order while there are tasks.
var ErrOrder = errors.New("semaphore: the order cannot change while there are tasks")

// State holds the tasks of one semaphore. A change costs O(log n). Memory grows and shrinks with
// the tasks in small steps.
type State struct {
	config    Config
	next      uint64
	records   slab[record]
	texts     slab[text]
	textBytes int64
	index     index
	tree      tree
	holds     holds
}

// New returns a semaphore without tasks.
func New(c Config) *State {
	s := &State{config: c, next: 1}
	s.tree.records = &s.records
	return s
}

// Config returns the settings that the rule uses.
func (s *State) Config() Config { return s.config }

// Configure changes the settings; Next then returns the consequences. It returns ErrOrder if the
// order would change while there are tasks.
func (s *State) Configure(c Config) error {
	if c.Ascending != s.config.Ascending && s.Len() > 0 {
		return ErrOrder
	}
	s.config = c
	return nil
}

// Put sets a task, new or existing: its priority, status, lease, owner and end. An existing task
// keeps Seq and Enqueued; a new one with Seq 0 gets the next number. A waiting task has no end.
func (s *State) Put(t Task) (added bool) {
	if invariants.Enabled {
		defer s.checkSmall()
	}
	if t.Status == Wait {
		t.Until = 0
	}
	n := nameOf(t.ID)
	i, there := s.find(n)
	if there {
		s.move(i, rankOf(t.Priority, s.config.Ascending), t.Status)
	} else {
		i = s.records.push(record{})
		s.add(i, n, t)
	}
	s.setHold(i, t.Lease, t.Until, t.Owner)
	return !there
}

// add makes t the task of a new record.
func (s *State) add(i uint32, n name, t Task) {
	if t.Seq == 0 {
		t.Seq = s.next
	}
	s.next = max(s.next, t.Seq+1)
	r := record{rank: rankOf(t.Priority, s.config.Ascending), seqBits: t.Seq<<seqShift | uint64(t.Status), enqueued: t.Enqueued, id: n.number}
	if n.isText {
		r.seqBits |= textBit
		r.id = uint64(s.texts.push(text{n.text, i}))
		s.textBytes += int64(len(n.text))
	}
	*s.records.at(i) = r
	s.indexAdd(i)
	s.tree.insert(itemOf(i, t.Status))
}

// Slot returns where Scan visits an existing task.
func (s *State) Slot(id string) uint32 {
	i, _ := s.find(nameOf(id))
	return i
}

// PutBack undoes the removal of a task that was in a slot, after all later changes have been
// undone. Put could use a slot that a Scan in progress has already passed.
func (s *State) PutBack(t Task, slot uint32) {
	if invariants.Enabled {
		defer s.checkSmall()
	}
	if last := s.records.push(record{}); last != slot {
		s.renumber(slot, last)
	}
	s.add(slot, nameOf(t.ID), t)
	s.setHold(slot, t.Lease, t.Until, t.Owner)
}

// move changes the priority and status of a record.
func (s *State) move(i uint32, rank uint64, st Status) {
	r := s.records.at(i)
	old := itemOf(i, r.status())
	if r.rank == rank {
		if st != r.status() {
			s.tree.replace(r.place(), old, itemOf(i, st))
			r.setStatus(st)
		}
		return
	}
	s.tree.remove(r.place(), old)
	r.rank = rank
	r.setStatus(st)
	s.tree.insert(itemOf(i, st))
}

// SetStatus sets a task's status and its end, and reports whether the task exists. A waiting task
// has no end.
func (s *State) SetStatus(id string, st Status, until int64) bool {
	if invariants.Enabled {
		defer s.checkSmall()
	}
	i, ok := s.find(nameOf(id))
	if !ok {
		return false
	}
	if st == Wait {
		until = 0
	}
	r := s.records.at(i)
	s.move(i, r.rank, st)
	if h := s.holdOf(r); h.until != until {
		s.setHold(i, h.lease, until, h.owner)
	}
	return true
}

// Remove removes a task and returns it.
func (s *State) Remove(id string) (was Task, ok bool) {
	if invariants.Enabled {
		defer s.checkSmall()
	}
	i, ok := s.find(nameOf(id))
	if !ok {
		return Task{}, false
	}
	was = s.task(i)
	s.setHold(i, 0, 0, 0)
	r := s.records.at(i)
	s.tree.remove(r.place(), itemOf(i, r.status()))
	s.indexRemove(i)
	if r.isText() {
		s.dropText(uint32(r.id))
	}
	if last := s.records.n - 1; last != i {
		s.renumber(last, i)
	}
	s.records.pop()
	s.indexFit()
	return was, true
}

// renumber moves a record into the place of a removed one, so that records stay dense.
func (s *State) renumber(from, to uint32) {
	r := s.records.at(from)
	s.tree.replace(r.place(), itemOf(from, r.status()), itemOf(to, r.status()))
	*s.indexLink(from) = to + 1
	if r.hold != 0 {
		s.holds.slab.at(r.hold - 1).task = to
	}
	if r.isText() {
		s.texts.at(uint32(r.id)).task = to
	}
	*s.records.at(to) = *r
}

// dropText removes a text and moves the last one into its place.
func (s *State) dropText(i uint32) {
	t := s.texts.at(i)
	s.textBytes -= int64(len(t.id))
	if last := s.texts.n - 1; last != i {
		*t = *s.texts.at(last)
		s.records.at(t.task).id = uint64(i)
	}
	s.texts.pop()
}

// Get returns a task.
func (s *State) Get(id string) (Task, bool) {
	i, ok := s.find(nameOf(id))
	if !ok {
		return Task{}, false
	}
	return s.task(i), true
}

// task returns the task in a record.
func (s *State) task(i uint32) Task {
	r := s.records.at(i)
	h := s.holdOf(r)
	return Task{ID: s.idOf(r), Priority: priorityOf(r.rank, s.config.Ascending), Status: r.status(), Enqueued: r.enqueued, Seq: r.seq(),
		Lease: h.lease, Until: h.until, Owner: h.owner}
}

// Len returns the number of tasks.
func (s *State) Len() int { return int(s.records.n) }

// Count returns the number of tasks with a status.
func (s *State) Count(st Status) int { return int(s.tree.sum[st]) }

// Position returns the position of a task in the order of all tasks, from 1; 0 if it does not
// exist.
func (s *State) Position(id string) int {
	i, ok := s.find(nameOf(id))
	if !ok {
		return 0
	}
	return s.tree.before(s.records.at(i).place()) + 1
}

// From yields the tasks in order, starting at a position that counts from 1. The state must not
// change meanwhile.
func (s *State) From(position int) iter.Seq[Task] {
	return func(yield func(Task) bool) {
		for _, t := range s.Of(position) {
			if !yield(t) {
				return
			}
		}
	}
}

// Of yields the tasks that have one of the statuses (any if none is given), each with its position
// among all tasks, like From. It takes O(log n) to reach the next.
func (s *State) Of(position int, only ...Status) iter.Seq2[int, Task] {
	wanted := statusSet{Wait: len(only) == 0, Acquired: len(only) == 0, TryRelease: len(only) == 0}
	for _, st := range only {
		wanted[st] = true
	}
	return func(yield func(int, Task) bool) {
		if s.tree.root != nil {
			s.tree.root.from(max(position-1, 0), 0, &wanted, func(place int, it item) bool { return yield(place+1, s.task(it.record())) })
		}
	}
}

// Scan visits at most max tasks in no particular order, and returns where to continue. The first
// call passes 0 as from; next is 0 at the end. Tasks may be added, changed and removed between two
// calls. A task that exists all the time is visited at least once, even if it was removed and put
// back (PutBack); it may be visited again if others are removed meanwhile.
func (s *State) Scan(from uint32, max int, fn func(Task)) (next uint32) {
	if next = min(from, s.records.n); from == 0 {
		next = s.records.n
	}
	// The scan runs downwards, because a removal moves the last record into the place of the
	// removed one: a task may be visited twice, but none is skipped.
	for ; next > 0 && max > 0; max-- {
		next--
		fn(s.task(next))
	}
	return next
}

// NextEnd returns the earliest end of a running task in Unix ms, math.MaxInt64 if none has an end.
func (s *State) NextEnd() int64 {
	if len(s.holds.ends) == 0 {
		return math.MaxInt64
	}
	return s.holds.slab.at(s.holds.ends[0]).until
}

// Ended returns the running tasks whose end has come, at most max, ordered by end and then by
// arrival.
func (s *State) Ended(now int64, max int) (ids []string) {
	for _, i := range s.ended(now, max) {
		ids = append(ids, s.idOf(s.records.at(s.holds.slab.at(i).task)))
	}
	return ids
}

// Owned returns at most max tasks of an owner, in order of arrival. If the owner has more, it is
// undefined which ones. The costs do not depend on how many there are.
func (s *State) Owned(owner int64, max int) (ids []string) {
	for _, i := range s.owned(owner, max) {
		ids = append(ids, s.idOf(s.records.at(i)))
	}
	return ids
}

// Owners yields the owners of tasks, each once, in no particular order.
func (s *State) Owners() iter.Seq[int64] { return maps.Keys(s.holds.owners) }

// NextSeq returns the number of the next new task. Numbers are below 1<<61.
func (s *State) NextSeq() uint64 { return s.next }

// SetNextSeq sets that number when a state is restored.
func (s *State) SetNextSeq(n uint64) { s.next = n }

// Bytes estimates the memory that the state takes, in constant time.
func (s *State) Bytes() int64 {
	const (
		empty  = 400
		record = 40
		text   = 24 + 8 // with what the allocator rounds up
		hold   = 40
		owner  = 40
		leaf   = 48 + 4*maxItems
		inner  = 48 + 40*maxKids
	)
	return empty + record*s.records.room() + 4*s.index.heads.room() + text*s.texts.room() + s.textBytes + hold*s.holds.slab.room() + 4*int64(cap(s.holds.ends)) +
		owner*int64(len(s.holds.owners)) + leaf*int64(s.tree.leaves) + inner*int64(s.tree.inner)
}

// Hash returns a hash of everything in the state except Until, which a restart of the process
// renews. Equal states have equal hashes.
func (s *State) Hash() uint64 {
	h := fnv.New64a()
	var b []byte
	number := func(v uint64) { b = binary.LittleEndian.AppendUint64(b, v) }
	number(s.next)
	number(uint64(s.config.Active))
	number(uint64(s.config.TryRelease))
	number(uint64(s.config.Lease))
	number(rankOf(0, s.config.Ascending))
	for t := range s.From(1) {
		number(uint64(len(t.ID)))
		b = append(b, t.ID...)
		number(math.Float64bits(t.Priority))
		number(uint64(t.Status))
		number(uint64(t.Enqueued))
		number(t.Seq)
		number(uint64(t.Lease))
		number(uint64(t.Owner))
		h.Write(b)
		b = b[:0]
	}
	h.Write(b)
	return h.Sum64()
}
