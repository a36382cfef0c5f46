package stream

import (
	"fiveways.dev/fiveways/internal/core/queue"
)

// Stream is the entries of a queue and the groups that read them. The zero value is empty and has
// no groups.
type Stream struct {
	index      index
	lastID     ID
	maxDeleted ID
	added      uint64
	groups     map[string]*Group
}

// Len is the number of entries.
func (s *Stream) Len() int { return s.index.n }

// Blocks is in how many blocks they lie.
func (s *Stream) Blocks() int { return len(s.index.blocks) }

// Last is the id that was given last, or what Set said: every later one is greater.
func (s *Stream) Last() ID { return s.lastID }

// MaxDeleted is the greatest id that was deleted other than by trimming, 0-0 when none was.
func (s *Stream) MaxDeleted() ID { return s.maxDeleted }

// Added is how many entries there ever were.
func (s *Stream) Added() uint64 { return s.added }

// FirstEntry is the id of the first entry, 0-0 when there is none.
func (s *Stream) FirstEntry() ID {
	id, _ := s.index.first()
	return id
}

// LastEntry is the id of the last entry, 0-0 when there is none.
func (s *Stream) LastEntry() ID {
	id, _ := s.index.last()
	return id
}

// NextID is the id of a message that comes at now (Unix ms); false when there are no more ids.
func (s *Stream) NextID(now int64) (ID, bool) {
	if ms := uint64(max(now, 0)); ms > s.lastID.Ms {
		return ID{Ms: ms}, true
	}
	return s.lastID.Next()
}

// NextIn is the first free id of a time in Unix ms; false when the time has gone by or is full.
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

// Add makes a message an entry. An id that is not above Last, which a replay may bring again,
// changes nothing.
func (s *Stream) Add(id ID, h queue.Handle) {
	if !s.lastID.Before(id) {
		return
	}
	s.index.add(id, h)
	s.lastID = id
	s.added++
}

// Delete takes out the entries among n consecutive handles and returns how many there were.
func (s *Stream) Delete(h queue.Handle, n int) int {
	last, n := s.index.remove(h, h+queue.Handle(n))
	if n > 0 && s.maxDeleted.Before(last) {
		s.maxDeleted = last
	}
	return n
}

// Trim takes out the entries before a handle. Unlike Delete it leaves MaxDeleted.
func (s *Stream) Trim(before queue.Handle) int {
	_, n := s.index.remove(0, before)
	return n
}

// Set replaces what an empty stream has, too.
func (s *Stream) Set(last, maxDeleted ID, added uint64) {
	s.lastID, s.maxDeleted, s.added = last, maxDeleted, added
}

// Handles are the messages of the first and the last entry; false when there is none.
func (s *Stream) Handles() (first, last queue.Handle, ok bool) {
	k := len(s.index.blocks)
	if k == 0 {
		return 0, 0, false
	}
	return s.index.blocks[0].at(0), s.index.blocks[k-1].lastHandle(), true
}

// Find is the message of an id.
func (s *Stream) Find(id ID) (queue.Handle, bool) { return s.index.find(id) }

// Ascend shows the entries in order, from an id on, until fn returns false.
func (s *Stream) Ascend(from ID, fn func(ID, queue.Handle) bool) { s.index.ascend(from, fn) }

// Descend shows the entries from an id downwards until fn returns false.
func (s *Stream) Descend(from ID, fn func(ID, queue.Handle) bool) { s.index.descend(from, fn) }

// tombstones reports whether an entry may have been deleted at from or behind it, and behind the
// first one.
func (s *Stream) tombstones(from ID) bool {
	return s.index.n > 0 && !s.maxDeleted.IsZero() && !s.maxDeleted.Before(from) && !s.maxDeleted.Before(s.FirstEntry())
}

// Unknown stands for a number of entries that cannot be told.
const Unknown = -1

// position is how many entries ever came up to an id, Unknown when that cannot be told.
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

// Lag is how many entries a group has not been given yet; false when that cannot be told. It is
// below 0 when Read said too much.
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

// Advance is what g.Last and g.Read become when the group is given an entry.
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
