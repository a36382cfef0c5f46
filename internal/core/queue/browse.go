package queue

import "math"

// Each calls fn for the live messages in delivery order, including unacked and scheduled ones, from
// a handle on, until fn returns false. The zero handle means the first message.
func (s *Deliveries) Each(from Handle, fn func(*Item, Status) bool) {
	start := 0
	if from != 0 {
		start = s.laneIndex(from.Priority())
	}
	w := getWalker()
	defer w.release()
	for _, l := range s.lanes[start:] {
		i := l.head
		var lo uint64
		if from != 0 && l.priority == from.Priority() {
			lo = from.Seq()
			i = l.lowerBound(lo &^ (chunkLen - 1))
		}
		for ; i < len(l.row); i++ {
			c := l.row[i].chunk
			if c == nil {
				continue
			}
			for w.startAt(c, lo); w.next(); {
				if !fn(w.it, c.status(w.slot)) {
					return
				}
			}
		}
	}
}

// Between returns how many live messages, in any status, are from from (inclusive) to to
// (exclusive) in the priority of from. It looks at no message.
func (s *Deliveries) Between(from, to Handle) (n int) {
	l := s.lane(from.Priority())
	lo, hi := from.Seq(), to.Seq()
	if to.Priority() > from.Priority() {
		hi = seqMask
	}
	if l == nil || to <= from {
		return 0
	}
	for _, e := range l.row[l.lowerBound(lo&^(chunkLen-1)):] {
		c := e.chunk
		switch {
		case e.base >= hi:
			return n
		case c == nil:
		case e.base >= lo && hi-e.base >= chunkLen:
			n += int(c.live)
		default:
			live := c.liveMap()
			n += live.between(int(max(lo, e.base)-e.base), int(min(hi-e.base, chunkLen)))
		}
	}
	return n
}

// eachPersistent calls fn for the persistent live messages of chunks that may have an Index in
// lo..hi, in delivery order.
func (s *Deliveries) eachPersistent(lo, hi uint64, fn func(*Item)) {
	w := getWalker()
	defer w.release()
	for _, l := range s.lanes {
		for _, e := range l.row[l.head:] {
			c := e.chunk
			if c == nil || c.live == 0 || c.hiIndex < lo || c.loIndex > hi {
				continue
			}
			for w.start(c); w.next(); {
				if w.it.Flags&Persistent != 0 {
					fn(w.it)
				}
			}
		}
	}
}

// Live yields the log positions of the persistent live messages with lo <= Index <= hi, in no
// particular order.
func (s *Deliveries) Live(lo, hi uint64, fn func(index uint64, sub uint32)) {
	s.eachPersistent(lo, hi, func(it *Item) {
		if lo <= it.Index && it.Index <= hi {
			fn(it.Index, it.Sub)
		}
	})
}

// RefsByIndex yields how many persistent live messages have their body in each entry of the log. An
// index may be yielded several times; the numbers add up.
func (s *Deliveries) RefsByIndex(fn func(index uint64, n int)) {
	var index uint64
	n := 0
	s.eachPersistent(0, math.MaxUint64, func(it *Item) {
		if n > 0 && it.Index != index {
			fn(index, n)
			n = 0
		}
		index = it.Index
		n++
	})
	if n > 0 {
		fn(index, n)
	}
}

// Hash returns a hash of the persistent live messages: handle, Index, Sub, Size, Expires, Due and
// Count of each. It does not depend on what is packed, or on the messages' status.
func (s *Deliveries) Hash() uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	mix := func(v uint64) {
		h = (h ^ v) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	s.eachPersistent(0, math.MaxUint64, func(it *Item) {
		mix(uint64(it.Handle))
		mix(it.Index)
		mix(uint64(it.Sub)<<32 | uint64(it.Size))
		mix(uint64(it.Expires))
		mix(uint64(it.Due))
		mix(uint64(it.Count))
	})
	return h
}

// First returns the lowest handle so far of the highest priority, 0 if there never was a message.
func (s *Deliveries) First() Handle {
	if len(s.lanes) == 0 {
		return 0
	}
	return MakeHandle(s.lanes[0].priority, s.lanes[0].low)
}

// Ends returns the handles that the next messages of each lane would get, highest priority first.
func (s *Deliveries) Ends() []Handle {
	ends := make([]Handle, len(s.lanes))
	for i, l := range s.lanes {
		ends[i] = MakeHandle(l.priority, l.next)
	}
	return ends
}

// Fronts appends the handle of the first ready message of each priority that has one, highest
// priority first.
func (s *Deliveries) Fronts(dst []Handle) []Handle {
	for _, l := range s.lanes {
		if l.ready > 0 {
			c := l.headChunk()
			dst = append(dst, c.handle(c.state[Ready-1].from(0)))
		}
	}
	return dst
}
