package dispatch

import (
	"cmp"
	"slices"

	"fiveways.dev/fiveways/internal/core/selector"
)

// Consumer is dispatch's part of a consumer of one queue. The fields above the blank line are set
// before Consumers.Add and never change. The rest belongs to the queue's shard.
type Consumer struct {
	Owner    any // the engine's own consumer struct
	Priority int
	NoAck    bool // deliveries are settled at once
	Reads    bool // reads messages that stay in the queue: MayRead says when, and Next skips it
	Prefetch int  // limit of unsettled deliveries, 0: none
	Window   *Window
	Selector *selector.Selector // nil: accepts everything
	Limit    *Limit             // shared with others; nil: none

	filter  int   // index in Selective.filters
	held    *pool // set-aside messages of the groups that it holds
	unacked int
	gone    bool
	share   *Share // of Limit; nil: none
	blocked bool   // in share.blocked
	turn    uint64 // when it was last served

	level          *level    // of the queue's consumers; nil if not added
	inTurn         bool      // in the level's list, between
	before, behind *Consumer // these two
}

// Unacked returns the number of unsettled deliveries.
func (c *Consumer) Unacked() int { return c.unacked }

// Gone reports whether the consumer was removed.
func (c *Consumer) Gone() bool { return c.gone }

// Turn returns the turn of the last Delivered.
func (c *Consumer) Turn() uint64 { return c.turn }

// Delivered counts a delivery. turn must be greater than for all earlier deliveries to consumers of
// the shard.
func (c *Consumer) Delivered(turn uint64) {
	c.turn = turn
	if c.NoAck {
		return
	}
	c.unacked++
	if c.Prefetch > 0 && c.unacked >= c.Prefetch {
		c.level.leave(c)
	}
}

// Returned counts n deliveries that were settled or returned.
func (c *Consumer) Returned(n int) {
	if c.NoAck || n == 0 {
		return
	}
	c.unacked -= n
	c.HasRoom()
	if c.share != nil {
		c.share.limit.give(c.share.of.queue.Loop(), n)
	}
}

// ready reports whether one more message may be delivered now. If so, it takes one from the shared
// limit.
func (c *Consumer) ready() bool {
	if c.Reads || c.Window.Full() {
		return false
	}
	if c.NoAck {
		return true
	}
	if c.Prefetch > 0 && c.unacked >= c.Prefetch {
		return false
	}
	return c.share == nil || c.share.take(c)
}

// MayRead reports whether a consumer with Reads has room.
func (c *Consumer) MayRead() bool { return !c.Window.Full() && c.unacked < c.Prefetch }

// Unready returns what Next took from the shared limit if there was no message after all.
func (c *Consumer) Unready() {
	if c.share != nil {
		c.share.untake()
	}
}

// Consumers holds the consumers of one queue: higher priority first, round robin among equals,
// unless only one of them gets messages. It belongs to the queue's shard.
//
// Invariant: a consumer that is in no level's list has no room, and one of these will put it back:
// Returned when one of its deliveries ends, HasRoom when its window has room again, Begin when its
// shared limit has.
type Consumers struct {
	queue  Queue
	list   []*Consumer // by priority, descending; then by age, oldest first
	levels []*level    // of the existing priorities, descending
	single *single     // nil: all consumers get messages

	granted []*Share // shares with grants of a limit, until the next End
	spare   []*Share // scratch
}

// Queue is what dispatch needs from a queue.
type Queue interface {
	Loop() Loop
	Look() // makes the shard dispatch the queue before the current round ends
}

// Loop is the owner of queues: one shard. Loops are compared by identity.
type Loop interface {
	// Grant makes the owner of the share's queue call Share.Granted. Any goroutine may call it.
	Grant(s *Share, n int)
}

// Init initializes cs for a new queue, before its first consumer.
func (cs *Consumers) Init(q Queue) { cs.queue = q }

// Single lets only one consumer get messages. With byRank, a consumer of higher priority takes over
// once the active one has no unsettled deliveries.
func (cs *Consumers) Single(byRank bool) { cs.single = &single{byRank: byRank} }

// Len returns how many consumers there are.
func (cs *Consumers) Len() int { return len(cs.list) }

// All returns the consumers by priority and age. The caller must not change them.
func (cs *Consumers) All() []*Consumer { return cs.list }

// Active returns the only consumer that gets messages, nil if there is none. ok is false if all
// consumers get messages.
func (cs *Consumers) Active() (c *Consumer, ok bool) {
	if cs.single == nil {
		return nil, false
	}
	return cs.single.active, true
}

// level holds the consumers of one priority that may have room, in order of their turns. It omits
// those that have reached their prefetch, and those that had no room for another reason at their
// turn, so that a message does not check many of them. A consumer that has room again goes to the
// end.
type level struct {
	priority    int
	first, last *Consumer
	consumers   int // of this priority, including omitted ones
}

// enter adds a consumer at the end.
func (l *level) enter(c *Consumer) {
	if c.inTurn {
		return
	}
	c.inTurn, c.before, c.behind = true, l.last, nil
	if l.last != nil {
		l.last.behind = c
	} else {
		l.first = c
	}
	l.last = c
}

// leave removes a consumer.
func (l *level) leave(c *Consumer) {
	if !c.inTurn {
		return
	}
	if c.before != nil {
		c.before.behind = c.behind
	} else {
		l.first = c.behind
	}
	if c.behind != nil {
		c.behind.before = c.before
	} else {
		l.last = c.before
	}
	c.inTurn, c.before, c.behind = false, nil, nil
}

// served moves a consumer to the end.
func (l *level) served(c *Consumer) {
	if c.behind != nil {
		l.leave(c)
		l.enter(c)
	}
}

// at returns the level of a priority. It creates a missing one.
func (cs *Consumers) at(priority int) *level {
	i, there := slices.BinarySearchFunc(cs.levels, priority, func(l *level, p int) int { return cmp.Compare(p, l.priority) })
	if !there {
		cs.levels = slices.Insert(cs.levels, i, &level{priority: priority})
	}
	return cs.levels[i]
}

// Add adds a consumer as the youngest.
func (cs *Consumers) Add(c *Consumer) {
	at := len(cs.list)
	for at > 0 && cs.list[at-1].Priority < c.Priority {
		at--
	}
	cs.list = slices.Insert(cs.list, at, c)
	c.level = cs.at(c.Priority)
	c.level.consumers++
	c.level.enter(c)
	if cs.single != nil {
		cs.single.joined(c)
	}
	if c.Limit != nil && !c.NoAck {
		c.share = cs.shareOf(c)
	}
}

// Remove removes a consumer; its deliveries stay unsettled. It returns false if the consumer was
// not found.
func (cs *Consumers) Remove(c *Consumer) bool {
	i := slices.Index(cs.list, c)
	if i < 0 {
		return false
	}
	cs.list = slices.Delete(cs.list, i, i+1)
	c.level.leave(c)
	if c.level.consumers--; c.level.consumers == 0 {
		cs.levels = slices.DeleteFunc(cs.levels, func(l *level) bool { return l == c.level })
	}
	if cs.single != nil {
		cs.single.left(c, cs.list)
	}
	c.gone = true
	c.leaveShare()
	return true
}

// Clear removes all consumers.
func (cs *Consumers) Clear() {
	for _, c := range cs.list {
		c.gone = true
	}
	cs.list, cs.levels = nil, nil
}

// HasRoom puts a consumer that may have room again at the end: behind those of its share that wait
// for the limit, if any.
func (c *Consumer) HasRoom() {
	switch {
	case c.level == nil || c.gone || c.blocked || c.inTurn:
	case c.share != nil && len(c.share.blocked) > 0:
		c.share.block(c)
	default:
		c.level.enter(c)
	}
}

// Next returns the consumer that gets the next message, and moves it behind its equals; nil if none
// has room. The caller then calls Delivered for it, or Unready if there is no message after all.
func (cs *Consumers) Next() *Consumer {
	if cs.single != nil {
		return cs.single.next(cs.list)
	}
	return cs.nextOf(nil)
}

// nextOf is Next among the consumers of a pool; nil means among all. It ignores single.
func (cs *Consumers) nextOf(pl *pool) *Consumer {
	for _, l := range cs.levels {
		for c := l.first; c != nil; {
			behind := c.behind
			switch {
			case pl != nil && !pl.admits(c):
			case c.ready():
				l.served(c)
				return c
			default:
				l.leave(c)
			}
			c = behind
		}
	}
	return nil
}
