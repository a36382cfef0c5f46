package queue

import "fmt"

// check panics if an invariant of the package comment does not hold. It examines every message.
func (s *Deliveries) check() {
	fail := func(format string, args ...any) { panic("queue: broken invariant: " + fmt.Sprintf(format, args...)) }
	var count [statuses]int
	var bytes [statuses]int64
	var hot int64
	hotChunks := 0
	w := getWalker()
	defer w.release()
	for _, l := range s.lanes {
		ready, dead := 0, 0
		if len(l.row) > 0 && (l.cur >= len(l.row) || l.row[len(l.row)-1].chunk != l.tail) {
			fail("lane %d: cursor %d, %d entries", l.priority, l.cur, len(l.row))
		}
		for i := l.head; i < len(l.row); i++ {
			c := l.row[i].chunk
			if c == nil {
				dead++
				continue
			}
			ready += int(c.ready)
			live := c.liveMap()
			sum := 0
			for st := range c.state {
				sum += c.state[st].count()
			}
			if sum != live.count() || sum != int(c.live) || c.state[Ready-1].count() != int(c.ready) {
				fail("chunk %d: states overlap or are miscounted", c.base)
			}
			if c.live == 0 && c != l.tail || c.base != l.row[i].base || c.lane != l {
				fail("chunk %d: empty or misplaced", c.base)
			}
			if i < l.cur && c.ready > 0 && c.pos[byBase] == 0 {
				fail("chunk %d: ready before the cursor", c.base)
			}
			if c.live > 0 && (c.base+uint64(live.from(0)) < l.low || c.base+uint64(live.last()) >= l.next) {
				fail("chunk %d: messages outside of %d to %d", c.base, l.low, l.next)
			}
			if c.items != nil {
				hotChunks++
				hot += int64(cap(c.items)) * itemBytes
				for j := range c.items {
					hot += int64(len(c.items[j].Env))
					if c.items[j].Env != nil && !live.has(j+int(c.off)) {
						fail("chunk %d: envelope of a message that is gone", c.base)
					}
				}
			}
			seen := 0
			for w.start(c); w.next(); seen++ {
				st := c.status(w.slot)
				count[st]++
				bytes[st] += int64(w.it.Size)
				if w.it.Handle != c.handle(w.slot) {
					fail("chunk %d: slot %d holds %x", c.base, w.slot, w.it.Handle)
				}
				if e := w.it.Expires; e != 0 && st != Unacked && e < c.key[byExpiry] {
					fail("chunk %d: expiry %d before bound %d", c.base, e, c.key[byExpiry])
				}
				if st == Scheduled && w.it.Due < c.key[byDue] {
					fail("chunk %d: due %d before bound %d", c.base, w.it.Due, c.key[byDue])
				}
				if w.it.Flags&Persistent != 0 && (w.it.Index < c.loIndex || w.it.Index > c.hiIndex) {
					fail("chunk %d: index %d out of bounds", c.base, w.it.Index)
				}
			}
			if seen != sum {
				fail("chunk %d: %d messages of %d", c.base, seen, sum)
			}
		}
		if ready != l.ready || dead != l.dead || (s.ready[l.priority>>6]>>(l.priority&63)&1 == 1) != (ready > 0) {
			fail("lane %d: ready %d, dead %d", l.priority, ready, dead)
		}
	}
	for c := s.hotHead; c != nil; c = c.hotNext {
		hotChunks--
	}
	if hotChunks != 0 || hot != s.hotBytes {
		fail("hot %d bytes, counted %d, list off by %d", hot, s.hotBytes, hotChunks)
	}
	for st := Ready; st < statuses; st++ {
		if count[st] != s.count[st] || bytes[st] != s.bytes[st] {
			fail("%v: %d messages, counted %d", st, count[st], s.count[st])
		}
	}
	for k, h := range map[heapKind]chunkHeap{byExpiry: s.expiring, byDue: s.due} {
		for i, c := range h {
			if int(c.pos[k]) != i+1 || i > 0 && c.before(h[(i-1)/2], k) {
				fail("heap %d: chunk %d out of order", k, c.base)
			}
		}
	}
}
