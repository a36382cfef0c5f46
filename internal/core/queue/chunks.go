package queue

import (
	"math"
	"math/bits"
)

// lane returns the lane of a priority, or nil if it never had a message.
func (s *Deliveries) lane(priority uint8) *lane {
	if len(s.lanes) == 1 && s.lanes[0].priority == priority {
		return s.lanes[0]
	}
	return s.searchLane(priority)
}

func (s *Deliveries) searchLane(priority uint8) *lane {
	if i := s.laneIndex(priority); i < len(s.lanes) && s.lanes[i].priority == priority {
		return s.lanes[i]
	}
	return nil
}

// laneIndex returns the index of the first lane of that priority or a lower one.
func (s *Deliveries) laneIndex(priority uint8) int {
	lo, hi := 0, len(s.lanes)
	for lo < hi {
		if m := (lo + hi) / 2; s.lanes[m].priority > priority {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// laneFor returns the lane of a priority, and creates it if needed.
func (s *Deliveries) laneFor(priority uint8) *lane {
	if l := s.lane(priority); l != nil {
		return l
	}
	i := s.laneIndex(priority)
	s.lanes = append(s.lanes, nil)
	copy(s.lanes[i+1:], s.lanes[i:])
	s.lanes[i] = &lane{priority: priority, next: 1, low: 1}
	return s.lanes[i]
}

// topLane returns the highest lane with ready messages, or nil if there is none.
func (s *Deliveries) topLane() *lane {
	if len(s.lanes) == 1 && s.lanes[0].ready > 0 {
		return s.lanes[0]
	}
	for i := len(s.ready) - 1; i >= 0; i-- {
		if s.ready[i] != 0 {
			return s.lane(uint8(i<<6 + 63 - bits.LeadingZeros64(s.ready[i])))
		}
	}
	return nil
}

// addChunk appends an empty chunk to a lane.
func (s *Deliveries) addChunk(l *lane, base uint64) *chunk {
	old := l.tail
	c := newChunk(l, base)
	l.push(c)
	if old != nil && old.live == 0 {
		s.drop(old)
		l.trim()
	}
	return c
}

// retire is called for a chunk that may have lost its last message. The caller must not use the
// chunk again, and calls lane.trim once it no longer needs indexes of row.
func (s *Deliveries) retire(c *chunk) {
	switch {
	case c.live > 0:
		s.shrink(c)
	case c == c.lane.tail:
		s.empty(c)
	default:
		s.drop(c)
	}
}

// empty resets the last chunk of a lane, so that a short queue keeps using the same small array.
func (s *Deliveries) empty(c *chunk) {
	s.setKey(&s.expiring, c, byExpiry, never)
	s.setKey(&s.due, c, byDue, never)
	c.lane.returned.remove(c, byBase)
	c.packed, c.encoded, c.mixed = nil, 0, false
	c.loIndex, c.hiIndex = math.MaxUint64, 0
	if cap(c.items) > 8 {
		items := c.items
		s.setItems(c, nil)
		putItems(items)
	}
	c.items = c.items[:0]
}

// drop removes a chunk without live messages from its row.
func (s *Deliveries) drop(c *chunk) {
	l := c.lane
	s.empty(c)
	if c.items != nil {
		items := c.items
		s.setItems(c, nil)
		putItems(items)
	}
	l.row[l.lowerBound(c.base)].chunk = nil
	l.dead++
	chunkPool.Put(c)
}

// remove removes a live message with its item. The caller calls retire afterwards.
func (s *Deliveries) remove(c *chunk, slot int, status Status, it *Item) {
	s.move(c, slot, status, Gone, it.Size)
	s.hotBytes -= int64(len(it.Env))
	it.Env = nil
}

// setItems replaces the array of a chunk, nil for none. The caller accounts for envelopes.
func (s *Deliveries) setItems(c *chunk, items []Item) {
	s.hotBytes += int64(cap(items)-cap(c.items)) * itemBytes
	switch {
	case c.items == nil && items != nil:
		c.hotPrev, c.hotNext = s.hotTail, nil
		if s.hotTail != nil {
			s.hotTail.hotNext = c
		} else {
			s.hotHead = c
		}
		s.hotTail = c
	case c.items != nil && items == nil:
		if c.hotPrev != nil {
			c.hotPrev.hotNext = c.hotNext
		} else {
			s.hotHead = c.hotNext
		}
		if c.hotNext != nil {
			c.hotNext.hotPrev = c.hotPrev
		} else {
			s.hotTail = c.hotPrev
		}
		c.hotPrev, c.hotNext = nil, nil
	}
	c.items = items
}
