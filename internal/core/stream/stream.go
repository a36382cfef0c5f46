package stream

import (
	"fiveways.dev/fiveways/internal/core/queue"
)

// Stream holds the entries of a queue and the groups that read them. The zero value is empty and
// has no groups.
type Stream struct {
	index      index
	lastID     ID
	maxDeleted ID
	added      uint64
	groups     map[string]*Group
}

// Len returns the number of entries.
func (s *Stream) Len() int { return s.index.n }

// Blocks returns the number of blocks of entries.
func (s *Stream) Blocks() int { return len(s.index.blocks) }

// Last returns the last id that was assigned, or the one passed to Set. Every later id is greater.
func (s *Stream) Last() ID { return s.lastID }

// MaxDeleted returns the greatest id that was deleted other than by trimming, 0-0 if there is none.
func (s *Stream) MaxDeleted() ID { return s.maxDeleted }

// Added returns how many entries were ever added.
func (s *Stream) Added() uint64 { return s.added }

// FirstEntry returns the id of the first entry, 0-0 if there is none.
func (s *Stream) FirstEntry() ID {
	id, _ := s.index.first()
	return id
}

// LastEntry returns the id of the last entry, 0-0 if there is none.
func (s *Stream) LastEntry() ID {
	id, _ := s.index.last()
	return id
}

// NextID returns the id for a message that arrives at now (Unix ms); false if no ids are left.
func (s *Stream) NextID(now int64) (ID, bool) {
	if ms := uint64(max(now, 0)); ms > s.lastID.Ms {
		return ID{Ms: ms}, true
	}
	return s.lastID.Next()
}

// NextIn returns the first free id of a time in Unix ms; false if the time is before that of Last,
// or has no ids left.
func (s *Stream) NextIn(ms uint64) (ID, bool) {
	id := ID{Ms: ms}
	if ms == s.lastID.Ms {
		next, ok := s.lastID.Next()
		if !ok || next.Ms != ms {
			return ID{}, false
		}
		id = next
	}
	return id, s.lastID.Before(id)
}

// Add makes a message an entry. An id that is not above Last, which a replay may add again, changes
// nothing.
func (s *Stream) Add(id ID, h queue.Handle) {
	if !s.lastID.Before(id) {
		return
	}
	s.index.add(id, h)
	s.lastID = id
	s.added++
}

// Delete removes the entries among n consecutive handles and returns their number.
func (s *Stream) Delete(h queue.Handle, n int) int {
	last, n := s.index.remove(h, h+queue.Handle(n))
	if n > 0 && s.maxDeleted.Before(last) {
		s.maxDeleted = last
	}
	return n
}

// Trim removes the entries before a handle. Unlike Delete, it does not change MaxDeleted.
func (s *Stream) Trim(before queue.Handle) int {
	_, n := s.index.remove(0, before)
	return n
}

// Set sets the values that even an empty stream has.
func (s *Stream) Set(last, maxDeleted ID, added uint64) {
	s.lastID, s.maxDeleted, s.added = last, maxDeleted, added
}

// Handles returns the messages of the first and the last entry; false if there is none.
func (s *Stream) Handles() (first, last queue.Handle, ok bool) {
	k := len(s.index.blocks)
	if k == 0 {
		return 0, 0, false
	}
	return s.index.blocks[0].at(0), s.index.blocks[k-1].lastHandle(), true
}

// Find returns the message of an id.
func (s *Stream) Find(id ID) (queue.Handle, bool) { return s.index.find(id) }

// Ascend calls fn for the entries in order, starting at from, until fn returns false.
func (s *Stream) Ascend(from ID, fn func(ID, queue.Handle) bool) { s.index.ascend(from, fn) }

// Descend calls fn for the entries in descending order, starting at from, until fn returns false.
func (s *Stream) Descend(from ID, fn func(ID, queue.Handle) bool) { s.index.descend(from, fn) }

// tombstones reports whether an entry at or after from, and not before the first entry, may have
// been deleted.
func (s *Stream) tombstones(from ID) bool {
	return s.index.n > 0 && !s.maxDeleted.IsZero() && !s.maxDeleted.Before(from) && !s.maxDeleted.Before(s.FirstEntry())
}

// Unknown stands for an unknown number of entries.
const Unknown = -1

// position returns how many entries were ever added up to an id, or Unknown.
func (s *Stream) position(id ID) int64 {
	switch c := id.Compare(s.lastID); {
	case s.added == 0:
		return 0
	case s.index.n == 0 && c <= 0, c == 0:
		return int64(s.added)
	case c > 0:
		return Unknown
	}
	first := s.FirstEntry()
	if s.maxDeleted.IsZero() || s.maxDeleted.Before(first) {
		switch id.Compare(first) {
		case -1:
			return int64(s.added) - int64(s.index.n)
		case 0:
			return int64(s.added) - int64(s.index.n) + 1
		}
	}
	return Unknown
}

// Lag returns how many entries a group has not received yet; false if that is unknown. It is
// negative if Read was set too high.
func (s *Stream) Lag(g *Group) (n int64, known bool) {
	if s.added == 0 {
		return 0, true
	}
	read := g.Read
	if read == Unknown || s.tombstones(g.Last) {
		read = s.position(g.Last)
	}
	return int64(s.added) - read, read != Unknown
}

// Advance returns the new g.Last and g.Read after an entry is delivered to the group.
func (s *Stream) Advance(last ID, read int64, given ID) (ID, int64) {
	if !last.Before(given) {
		return last, read
	}
	if read != Unknown && !s.tombstones(given) {
		read++
	} else {
		read = s.position(given)
	}
	return given, read
}
