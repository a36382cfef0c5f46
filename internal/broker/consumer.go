package broker

import (
	"cmp"
	"slices"

	"fiveways/internal/core/message"
	"fiveways/internal/core/selector"
)

// Consumer receives the messages of one queue for one session. The fields
// below the blank line belong to the queue's shard.
type Consumer struct {
	Tag      string
	NoAck    bool
	Queue    *Queue // nil for a mailbox
	Data     any    // the protocol's own
	Priority int
	session  *Session
	copier   *copier // of a consumer of copies, else nil

	prefetch  int
	exclusive bool
	channel   int
	args      message.Table
	selector  *selector.Selector // nil: everything
	filter    int                // in the queue's filters
	held      *pool              // parked messages of the groups that it holds
	unacked   int
	gone      bool
	share     *share // of a shared limit; nil: there is none
	blocked   bool   // in share.blocked
	turn      uint64 // when it was served last, of shard.turns
	out       *outbox

	level          *level    // of the queue's consumers; nil when it is none of those
	inTurn         bool      // it is in the row there, between
	before, behind *Consumer // these
}

// ready tells whether one more message may be delivered now. A true answer
// takes one from the shared limit.
func (c *Consumer) ready() bool {
	if c.session.window.full() {
		return false
	}
	if c.NoAck {
		return true
	}
	if c.prefetch > 0 && c.unacked >= c.prefetch {
		return false
	}
	return c.share == nil || c.share.take(c)
}

// unready gives back what ready took when there was no message after all.
func (c *Consumer) unready() {
	if c.share != nil {
		c.share.untake()
	}
}

// consumers is those of one queue: higher priority first, round robin
// among equals, unless only one of them gets messages.
//
// Invariant: a consumer that is in no row of levels has no room, and something
// will put it back: giveBack when a delivery of it ends, kick when its
// session's window has room again, unblock when its shared limit has.
type consumers struct {
	list   []*Consumer // sorted by priority, descending; within one priority by age
	levels []*level    // of the priorities there are, descending
	single *single     // nil: all of them get messages
}

// level is the consumers of one priority that may have room, by turn. Those that have all they may hold are left out, and those that had no room for
// another reason when it was their turn, so that a message does not look at many of them. Who has room again is behind the others.
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
func (cs *consumers) at(priority int) *level {
	i, there := slices.BinarySearchFunc(cs.levels, priority, func(l *level, p int) int { return cmp.Compare(p, l.priority) })
	if !there {
		cs.levels = slices.Insert(cs.levels, i, &level{priority: priority})
	}
	return cs.levels[i]
}

func (cs *consumers) add(c *Consumer) {
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
}

func (cs *consumers) remove(c *Consumer) bool {
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
	return true
}

// clear forgets all consumers.
func (cs *consumers) clear() { cs.list, cs.levels = nil, nil }

// hasRoom puts a consumer that may have room again behind the others: where those of its share
// wait for their turn at the limit, behind them.
func (c *Consumer) hasRoom() {
	switch {
	case c.level == nil || c.gone || c.blocked || c.inTurn:
	case c.share != nil && len(c.share.blocked) > 0:
		c.share.block(c)
	default:
		c.level.enter(c)
	}
}

// next picks who gets the next message and moves it behind its equals.
func (cs *consumers) next() *Consumer {
	if cs.single != nil {
		return cs.single.next(cs.list)
	}
	return cs.nextOf(nil)
}

// nextOf is next among those of a pool, nil: among all. What single says does not count.
func (cs *consumers) nextOf(pl *pool) *Consumer {
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
