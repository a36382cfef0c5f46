package dispatch

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Limit bounds the unsettled deliveries of several consumers together (the global prefetch of a
// channel), whichever queues and shards they are on. A maximum of 0 means no limit.
//
// Room that becomes free goes to waiting shares in order of arrival, before anything else can take
// it. So every queue, and every consumer in it, gets its turn.
//
// Invariant: while a share waits, the limit is used up, or the goroutine that freed a delivery is
// about to lock mu.
type Limit struct {
	max     atomic.Int64
	used    atomic.Int64 // including those granted but not used yet
	waiters atomic.Int64 // length of waiting

	mu      sync.Mutex // innermost: no other lock is taken under it
	waiting []*Share
}

// Share is the consumers of one queue under one limit. All fields except waiting belong to the
// queue's shard.
//
// Invariant: while consumers are blocked, the share waits or has a grant.
type Share struct {
	limit   *Limit
	of      *Consumers
	members int         // number of consumers
	blocked []*Consumer // consumers that found no room, in order of their turns
	granted int         // deliveries taken from the limit but not made yet
	listed  bool        // in Consumers.granted

	waiting bool // guarded by limit.mu
}

// NewLimit returns a limit of n deliveries; 0 means none.
func NewLimit(n int) *Limit {
	l := &Limit{}
	l.max.Store(int64(n))
	return l
}

// Max returns the limit of unsettled deliveries; 0 means none. Any goroutine may call it.
func (l *Limit) Max() int {
	if l == nil {
		return 0
	}
	return int(l.max.Load())
}

// reserve takes up to n deliveries from the limit, as many as are free.
func (l *Limit) reserve(n int64) int64 {
	for {
		m := l.max.Load()
		if m == 0 {
			l.used.Add(n)
			return n
		}
		u := l.used.Load()
		k := min(n, m-u)
		if k <= 0 {
			return 0
		}
		if l.used.CompareAndSwap(u, u+k) {
			return k
		}
	}
}

// SetMax changes the maximum. Existing deliveries stay unsettled. Only a goroutine that owns no
// queue may call it.
func (l *Limit) SetMax(n int) {
	l.max.Store(int64(n))
	l.pass(nil, nil)
}

// give returns n deliveries to the limit. The caller owns loop.
func (l *Limit) give(loop Loop, n int) {
	l.used.Add(-int64(n))
	if l.waiters.Load() > 0 {
		l.pass(loop, nil)
	}
}

// pass distributes free deliveries evenly among the waiting shares, after adding last to these. own
// is the caller's loop, nil for none.
func (l *Limit) pass(own Loop, last *Share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last != nil && !last.waiting {
		last.waiting = true
		l.waiting = append(l.waiting, last)
		l.waiters.Add(1) // before the check of what is free, so that a give that this check misses sees the waiter
	}
	n := len(l.waiting)
	if n == 0 {
		return
	}
	want := int64(n)
	if m := l.max.Load(); m > 0 {
		want = m
	}
	free := int(l.reserve(want))
	served := min(free, n)
	for i, s := range l.waiting[:served] {
		s.waiting = false
		grant := free / n
		if i < free%n {
			grant++
		}
		if at := s.of.queue.Loop(); at == own {
			s.Granted(grant)
		} else {
			at.Grant(s, grant)
		}
	}
	l.waiting = slices.Delete(l.waiting, 0, served)
	l.waiters.Add(-int64(served))
}

// take reports whether one more delivery may go to c, and counts it.
func (s *Share) take(c *Consumer) bool {
	if s.granted > 0 {
		s.granted--
		return true
	}
	l := s.limit
	if l.waiters.Load() == 0 && l.reserve(1) == 1 {
		return true
	}
	if l.pass(s.of.queue.Loop(), s); s.granted > 0 {
		s.granted--
		return true
	}
	s.block(c)
	return false
}

// block makes c wait for grants to the share.
func (s *Share) block(c *Consumer) {
	if !c.blocked {
		c.blocked = true
		s.blocked = append(s.blocked, c)
	}
}

// untake returns what take counted, so that the next consumer of the queue can have it.
func (s *Share) untake() {
	s.granted++
	s.list()
}

// list makes the end of the current dispatch return unused grants.
func (s *Share) list() {
	if !s.listed {
		s.listed = true
		s.of.granted = append(s.of.granted, s)
	}
}

// Granted adds n deliveries to the share, whose consumers then get their turns. It runs on the
// owner of the queue.
func (s *Share) Granted(n int) {
	s.granted += n
	s.list()
	s.of.queue.Look()
}

// Begin starts a dispatch of the queue: consumers that waited for grants rejoin the others.
func (cs *Consumers) Begin() {
	if len(cs.granted) > 0 {
		cs.unblock()
	}
}

func (cs *Consumers) unblock() {
	for _, s := range cs.granted {
		for _, c := range s.blocked {
			if c.blocked = false; c.level != nil && !c.gone {
				c.level.enter(c)
			}
		}
		clear(s.blocked)
		s.blocked = s.blocked[:0]
	}
}

// End ends a dispatch of the queue: grants that none of its consumers could use go to shares that
// wait elsewhere.
func (cs *Consumers) End() {
	if len(cs.granted) > 0 {
		cs.ungrant()
	}
}

func (cs *Consumers) ungrant() {
	shares := cs.granted
	cs.granted = cs.spare[:0] // give may add shares, for another dispatch of the queue
	for _, s := range shares {
		n := s.granted
		s.granted, s.listed = 0, false
		if n > 0 {
			s.limit.give(cs.queue.Loop(), n)
		}
	}
	clear(shares)
	cs.spare = shares[:0]
}

// shareOf returns the share for a consumer that joins the queue, if possible an existing one.
func (cs *Consumers) shareOf(c *Consumer) *Share {
	for _, mate := range cs.list {
		if s := mate.share; s != nil && s.limit == c.Limit {
			s.members++
			return s
		}
	}
	return &Share{limit: c.Limit, of: cs, members: 1}
}

// leaveShare removes a consumer that was removed from the queue. Grants that only it could use are
// returned at the end of the dispatch.
func (c *Consumer) leaveShare() {
	if s := c.share; s != nil {
		s.members--
		s.blocked = slices.DeleteFunc(s.blocked, func(have *Consumer) bool { return have == c })
		c.blocked = false
	}
}
