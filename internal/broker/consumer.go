package broker

import "fiveways/internal/core/selector"

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
	limit     *Limit
	exclusive bool
	selector  *selector.Selector // nil: everything
	filter    int                // in the queue's filters
	held      *pool              // parked messages of the groups that it holds
	unacked   int
	gone      bool
	out       *outbox
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
	return c.limit.take()
}

// unready gives back what ready took when there was no message after all.
func (c *Consumer) unready() {
	if !c.NoAck {
		if c.limit.give(1) {
			c.session.wakeShards() // another shard found none left meanwhile
		}
	}
}

// consumers is the list of one queue: higher priority first, round robin
// among equals, unless only one of them gets messages.
type consumers struct {
	list   []*Consumer // sorted by priority, descending; within one priority by turn
	single *single     // nil: all of them get messages
}

func (cs *consumers) add(c *Consumer) {
	at := len(cs.list)
	for at > 0 && cs.list[at-1].Priority < c.Priority {
		at--
	}
	cs.list = append(cs.list, nil)
	copy(cs.list[at+1:], cs.list[at:])
	cs.list[at] = c
	if cs.single != nil {
		cs.single.joined(c)
	}
}

func (cs *consumers) remove(c *Consumer) bool {
	for i, have := range cs.list {
		if have == c {
			cs.list = append(cs.list[:i], cs.list[i+1:]...)
			if cs.single != nil {
				cs.single.left(c, cs.list)
			}
			return true
		}
	}
	return false
}

// next picks who gets the next message and moves it behind its equals.
func (cs *consumers) next() *Consumer {
	if cs.single != nil {
		return cs.single.next(cs.list)
	}
	for i, c := range cs.list {
		if !c.ready() {
			continue
		}
		if len(cs.list) > 1 {
			end := i + 1
			for end < len(cs.list) && cs.list[end].Priority == c.Priority {
				end++
			}
			copy(cs.list[i:end-1], cs.list[i+1:end])
			cs.list[end-1] = c
		}
		return c
	}
	return nil
}
