package dispatch

import (
	"cmp"
	"slices"

	"fiveways.dev/fiveways/internal/core/selector"
)

// Consumer gets messages of one queue, as far as dispatch knows it. The fields above the
// blank line are set before Consumers.Add and never change; the rest belongs to the queue's shard.
type Consumer struct {
	Owner    any // what the engine has of it
	Priority int
	NoAck    bool // a delivery is over at once
	Reads    bool // it reads what stays in the queue: MayRead tells when, and Next passes over it
	Prefetch int  // most deliveries out at a time, 0: no limit
	Window   *Window
	Selector *selector.Selector // nil: it takes everything
	Limit    *Limit             // shared with others; nil: there is none

	filter  int   // in Selective.filters
	held    *pool // set-aside messages of the groups that it holds
	unacked int
	gone    bool
	share   *Share // of Limit; nil: there is none
	blocked bool   // in share.blocked
	turn    uint64 // when it was served last

	level          *level    // of the queue's consumers; nil when it is none of those
	inTurn         bool      // it is in the row there, between
	before, behind *Consumer // these
}

// Unacked is how many deliveries are out.
func (c *Consumer) Unacked() int { return c.unacked }

// Gone reports whether it was removed.
func (c *Consumer) Gone() bool { return c.gone }

// Turn is that of the last Delivered.
func (c *Consumer) Turn() uint64 { return c.turn }

// Delivered notes a delivery. turn is more than that of the deliveries before, to any consumer of
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

// Returned notes that n deliveries are over.
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

// ready reports whether one more message may be delivered now. A true answer
// takes one from the shared limit.
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

// MayRead reports whether one that Reads has room.
func (c *Consumer) MayRead() bool { return !c.Window.Full() && c.unacked < c.Prefetch }

// Unready gives back what Next took when there was no message after all.
func (c *Consumer) Unready() {
	if c.share != nil {
		c.share.untake()
	}
}

// Consumers is those of one queue: higher priority first, round robin among equals, unless only one
// of them gets messages. It belongs to the queue's shard.
//
// Invariant: a consumer that is in no row of levels has no room, and something will put it back:
// Returned when a delivery of it ends, HasRoom when its window has room again, Begin when its
// shared limit has.
type Consumers struct {
	queue  Queue
	list   []*Consumer // sorted by priority, descending; within one priority by age
	levels []*level    // of the priorities there are, descending
	single *single     // nil: all of them get messages

	granted []*Share // with what a shared limit has left to them, until the next End
	spare   []*Share // scratch
}

// Queue is all that dispatch knows of a queue.
type Queue interface {
	Loop() Loop
	Look() // has it looked at before the current round ends
}

// Loop is what owns queues: one shard. Loops are compared by identity.
type Loop interface {
	// Grant has Share.Granted called where the share's queue is owned. Any goroutine may call it.
	Grant(s *Share, n int)
}

// Init is for a new queue, before its first consumer.
func (cs *Consumers) Init(q Queue) { cs.queue = q }

// Single has only one consumer get messages. When byRank is true a consumer of higher priority
// takes its place once that has nothing out.
func (cs *Consumers) Single(byRank bool) { cs.single = &single{byRank: byRank} }

// Len is how many there are.
func (cs *Consumers) Len() int { return len(cs.list) }

// All are the consumers by priority and age, the caller's to read only.
func (cs *Consumers) All() []*Consumer { return cs.list }

// Active is the only consumer that gets messages; ok is false where all do, and it is nil while
// there is none.
func (cs *Consumers) Active() (c *Consumer, ok bool) {
	if cs.single == nil {
		return nil, false
	}
	return cs.single.active, true
}

// level is the consumers of one priority that may have room, by turn. Those that have all they may
// hold are left out, and those that had no room for another reason when it was their turn, so that
// a message does not look at many of them. One that has room again is behind the others.
type level struct {
	priority    int
	first, last *Consumer
	consumers   int // of this priority, also those that are left out
}

// enter puts a consumer behind the others.
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

// leave takes a consumer out.
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

// served moves a consumer behind the others.
func (l *level) served(c *Consumer) {
	if c.behind != nil {
		l.leave(c)
		l.enter(c)
	}
}

// at finds the level of a priority, new if needed.
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

// Remove takes a consumer out; its deliveries stay out. false: it was none.
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

// Clear takes all consumers out.
func (cs *Consumers) Clear() {
	for _, c := range cs.list {
		c.gone = true
	}
	cs.list, cs.levels = nil, nil
}

// HasRoom puts a consumer that may have room again behind the others: where those of its share
// wait for their turn at the limit, behind them.
func (c *Consumer) HasRoom() {
	switch {
	case c.level == nil || c.gone || c.blocked || c.inTurn:
	case c.share != nil && len(c.share.blocked) > 0:
		c.share.block(c)
	default:
		c.level.enter(c)
	}
}

// Next picks the consumer that gets the next message, and moves it behind its equals; nil when
// none has room.
// What it picked is Delivered, or Unready when there is no message after all.
func (cs *Consumers) Next() *Consumer {
	if cs.single != nil {
		return cs.single.next(cs.list)
	}
	return cs.nextOf(nil)
}

// nextOf is Next among those of a pool, nil: among all. What single says does not count.
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
