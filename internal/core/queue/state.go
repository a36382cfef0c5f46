package queue

import "fiveways.dev/fiveways/internal/core/invariants"

// State holds the live messages of one queue. The zero value is an empty queue. Its own methods
// change what a log records: which messages exist, their times, and their counts of returns.
type State struct{ Deliveries }

// Deliveries is a State without those methods. It can be read, and only state of this process can
// be changed: which messages are delivered, set aside or due, and where their bytes are.
type Deliveries struct {
	lanes []*lane   // highest priority first
	ready [4]uint64 // one bit per priority whose lane has ready messages

	count [statuses]int   // messages by Status; the element of Gone has no meaning
	bytes [statuses]int64 // their Sizes

	expiring chunkHeap // by byExpiry
	due      chunkHeap // by byDue

	hotHead, hotTail *chunk // list of the chunks with items, in the order in which they became hot
	hotBytes         int64  // arrays of items and the envelopes in them
}

// Ready returns the number of messages that wait for a consumer, including parked ones and expired
// ones that LendExpired has not taken yet.
func (s *Deliveries) Ready() int { return s.count[Ready] + s.count[Parked] }

// Unacked returns the number of messages that are delivered but not settled.
func (s *Deliveries) Unacked() int { return s.count[Unacked] }

// Scheduled returns the number of messages that wait for their Due time.
func (s *Deliveries) Scheduled() int { return s.count[Scheduled] }

// Parked returns the number of the ready messages that Next skips.
func (s *Deliveries) Parked() int { return s.count[Parked] }

// Blocked returns the number of messages that wait for others to be gone.
func (s *Deliveries) Blocked() int { return s.count[Blocked] }

// ReadyBytes returns the sum of the body sizes of the ready messages, including parked ones.
func (s *Deliveries) ReadyBytes() int64 { return s.bytes[Ready] + s.bytes[Parked] }

// UnackedBytes returns the sum of the body sizes of the unacked messages.
func (s *Deliveries) UnackedBytes() int64 { return s.bytes[Unacked] }

// HotBytes returns the memory that Cool can free: envelopes and the arrays of unpacked messages, in
// bytes.
func (s *Deliveries) HotBytes() int64 { return s.hotBytes }

// NextSeq returns the sequence number that Publish will give to the next message of a priority.
func (s *Deliveries) NextSeq(priority uint8) uint64 {
	if l := s.lane(priority); l != nil {
		return l.next
	}
	return 1
}

// Publish adds a copy of a message and returns its handle. it.Handle has the priority and, in a
// replay, the sequence number; 0 asks for the next one. A number below NextSeq that is not below
// all of a front lane (NextFront) belongs to a message that was already added: Publish does nothing
// and returns 0. The message is scheduled if Due is not 0, otherwise ready.
func (s *State) Publish(it *Item) Handle {
	l := s.laneFor(it.Handle.Priority())
	seq := it.Handle.Seq()
	switch {
	case seq == 0:
		seq = l.next
	case seq < l.low:
		return s.putFront(l, seq, it)
	case seq < l.next:
		return 0
	case l.next == 1 && seq >= frontFloor:
		l.low = seq
	}
	l.next = seq + 1

	c := l.tail
	if base := seq &^ (chunkLen - 1); c == nil || c.base != base {
		c = s.addChunk(l, base)
	}
	slot := int(seq - c.base)
	s.put(c, slot, s.place(l, c, slot), it)
	return c.handle(slot)
}

// put stores a copy of a message in a slot.
func (s *Deliveries) put(c *chunk, slot int, dst, it *Item) {
	*dst = *it
	dst.Handle = c.handle(slot)
	s.hotBytes += int64(len(it.Env))
	if it.Flags&Redelivered != 0 {
		c.redelivered.set(slot)
	}
	c.noteIndex(dst)

	status := Ready
	if it.Due != 0 {
		status = Scheduled
		s.lowerKey(&s.due, c, byDue, it.Due)
	}
	s.move(c, slot, Gone, status, it.Size)
	if it.Expires != 0 {
		s.lowerKey(&s.expiring, c, byExpiry, it.Expires)
	}
}

// place makes room for a slot of the last chunk, after all its others.
func (s *Deliveries) place(l *lane, c *chunk, slot int) *Item {
	if c.packed != nil {
		s.unpack(c)
	}
	if c.live == 0 && len(c.items) == 0 {
		c.off = uint16(slot)
	}
	i := slot - int(c.off)
	if i >= cap(c.items) {
		n := i + 1
		if c.items == nil && len(l.row)-l.head > 1 {
			n = chunkLen // the lane is deep, so grow at once
		}
		old := c.items
		items := append(getItems(n), old...)
		clear(old)
		s.setItems(c, items)
		putItems(old)
	}
	c.items = c.items[:i+1]
	return &c.items[i]
}

// Next marks the first ready message of the highest priority that is not expired at now (unix ms)
// as unacked and returns it, nil if there is none. Scheduled messages that are due by now count as
// ready.
func (s *Deliveries) Next(now int64) *Item { return s.NextBeyond(now, now) }

// NextBeyond is Next for messages that are not expired at until, instead of now.
func (s *Deliveries) NextBeyond(now, until int64) *Item {
	c, slot := s.first(now, until)
	if c == nil {
		return nil
	}
	it := c.hotItem(slot)
	s.move(c, slot, Ready, Unacked, it.Size)
	return it
}

// Peek returns the message that Next would return, but leaves it ready.
func (s *Deliveries) Peek(now int64) *Item { return s.PeekBeyond(now, now) }

// PeekBeyond returns the message that NextBeyond would return, but leaves it ready.
func (s *Deliveries) PeekBeyond(now, until int64) *Item {
	c, slot := s.first(now, until)
	if c == nil {
		return nil
	}
	return c.hotItem(slot)
}

// first finds the message to deliver at now that expires after until, and makes its chunk hot.
func (s *Deliveries) first(now, until int64) (*chunk, int) {
	if s.due.topKey(byDue) <= now {
		s.Due(now)
	}
	if s.expiring.topKey(byExpiry) <= until {
		return s.firstUnexpired(until)
	}
	return s.head()
}

// head finds the first ready message, expired or not, and makes its chunk hot.
func (s *Deliveries) head() (*chunk, int) {
	l := s.topLane()
	if l == nil {
		return nil, 0
	}
	c := l.headChunk()
	if c.packed != nil {
		s.unpack(c)
	}
	return c, c.state[Ready-1].from(0)
}

// firstUnexpired is first while LendExpired is overdue: it checks messages one by one.
func (s *Deliveries) firstUnexpired(now int64) (*chunk, int) {
	for _, l := range s.lanes {
		if l.ready == 0 {
			continue
		}
		for i := l.lowerBound(l.headChunk().base); i < len(l.row); i++ {
			c := l.row[i].chunk
			if c == nil || c.ready == 0 {
				continue
			}
			if c.packed != nil {
				s.unpack(c)
			}
			ready := &c.state[Ready-1]
			for slot := ready.from(0); slot < chunkLen; slot = ready.from(slot + 1) {
				if e := c.items[slot-int(c.off)].Expires; e == 0 || e > now {
					return c, slot
				}
			}
		}
	}
	return nil, 0
}

// Get returns a message and its status; nil and Gone if it is not in the queue.
func (s *Deliveries) Get(h Handle) (*Item, Status) {
	c, slot, status := s.find(h)
	if status == Gone {
		return nil, Gone
	}
	return c.item(slot), status
}

// Lend marks one ready or parked message as unacked and returns it, nil if it is neither.
func (s *Deliveries) Lend(h Handle) *Item {
	c, slot, status := s.find(h)
	if status != Ready && status != Parked {
		return nil
	}
	it := c.item(slot)
	s.move(c, slot, status, Unacked, it.Size)
	return it
}

// LendAside is Lend, but also for scheduled and blocked messages. It returns nil if the message is
// missing or unacked.
func (s *Deliveries) LendAside(h Handle) *Item {
	c, slot, status := s.find(h)
	if status == Gone || status == Unacked {
		return nil
	}
	it := c.item(slot)
	s.move(c, slot, status, Unacked, it.Size)
	return it
}

// Requeue returns an unacked message to its position and sets its Count to count. The message is
// marked as redelivered, and is ready, or scheduled if due is not 0. Requeue returns false if the
// message is not unacked.
func (s *State) Requeue(h Handle, count uint32, due int64) bool {
	c, slot, status := s.find(h)
	if status != Unacked {
		return false
	}
	it := c.item(slot)
	if it.Count != count || it.Due != due {
		if c.packed != nil {
			s.unpack(c)
			it = c.hotItem(slot)
		}
		it.Count, it.Due = count, due
	}
	c.redelivered.set(slot)
	if it.Expires != 0 {
		s.lowerKey(&s.expiring, c, byExpiry, it.Expires)
	}
	if due != 0 {
		s.move(c, slot, Unacked, Scheduled, it.Size)
		s.lowerKey(&s.due, c, byDue, due)
		return true
	}
	s.move(c, slot, Unacked, Ready, it.Size)
	c.lane.noteReady(c)
	return true
}

// MarkAllRedelivered marks every live message as redelivered, because after a crash it is unknown
// which were delivered.
func (s *Deliveries) MarkAllRedelivered() {
	for _, l := range s.lanes {
		for _, e := range l.row[l.head:] {
			if e.chunk != nil {
				e.chunk.redelivered = e.chunk.liveMap()
			}
		}
	}
}

// find returns the chunk, slot and status of a message. The status is Gone if it is not in the
// queue.
func (s *Deliveries) find(h Handle) (*chunk, int, Status) {
	l := s.lane(h.Priority())
	if l == nil {
		return nil, 0, Gone
	}
	c := l.chunkAt(h.Seq())
	if c == nil {
		return nil, 0, Gone
	}
	slot := int(h.Seq() - c.base)
	return c, slot, c.status(slot)
}

// move changes the status of a message. Every change of status uses it.
func (s *Deliveries) move(c *chunk, slot int, from, to Status, size uint32) {
	if from == Gone {
		c.live++
	} else {
		c.state[from-1].clear(slot)
	}
	if to == Gone {
		c.live--
	} else {
		c.state[to-1].set(slot)
	}
	s.count[from]--
	s.bytes[from] -= int64(size)
	s.count[to]++
	s.bytes[to] += int64(size)

	l := c.lane
	if from == Ready {
		c.ready--
		if l.ready--; l.ready == 0 {
			s.ready[l.priority>>6] &^= 1 << (l.priority & 63)
		}
	}
	if to == Ready {
		c.ready++
		if l.ready++; l.ready == 1 {
			s.ready[l.priority>>6] |= 1 << (l.priority & 63)
		}
	}
}

// lowerKey lowers the key of c in a heap to at if that is earlier.
func (s *Deliveries) lowerKey(h *chunkHeap, c *chunk, k heapKind, at int64) {
	if at < c.key[k] {
		c.key[k] = at
		h.fix(c, k)
	}
}

// setKey sets the key of c in a heap to at.
func (s *Deliveries) setKey(h *chunkHeap, c *chunk, k heapKind, at int64) {
	c.key[k] = at
	if at == never {
		h.remove(c, k)
		return
	}
	h.fix(c, k)
}

func (s *Deliveries) checkInvariants() {
	if invariants.Enabled {
		s.check()
	}
}
