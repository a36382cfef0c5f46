package streams

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/stream"
)

// GroupClaim gives pending entries to another consumer, which is created if it does not exist and
// gets something: as many as fit into a quarter of the memory that the broker may use.
type GroupClaim struct {
	OnGroup
	Consumer string
	IDs      []stream.ID
	MinIdle  int64     // ms; only entries that were delivered at least this long ago
	Idle     int64     // ms; record the entries as delivered this long ago
	Time     int64     // Unix ms; record the entries as delivered then; below 0: use Idle
	Count    int64     // record this count of deliveries; below 0: one more
	Force    bool      // also entries that are pending for no consumer
	JustIDs  bool      // return no messages, and do not count a delivery
	Last     stream.ID // move the group at least to this id

	Entries []Entry

	page page
}

func (c *GroupClaim) Run(at shard.Context) error {
	c.page, c.Entries = page{}, nil
	g, err := c.group(at)
	if g == nil {
		return err
	}
	if g.Last.Before(c.Last) {
		at.Facts().SetGroup(at.Content(), g.Name, c.Last, g.Read)
	}
	k := claiming{at: at, g: g, consumer: c.Consumer}
	more := true
	for _, id := range c.IDs {
		if !more {
			break
		}
		k.before(id)
		p := g.Pending(id)
		h, there := at.Content().Stream.Find(id)
		switch {
		case !there && p != nil:
			k.gone = append(k.gone, id)
		case !there, p == nil && !c.Force, p != nil && c.MinIdle > 0 && at.Now()-p.Time < c.MinIdle:
		default:
			given := stream.Pending{ID: id, Time: c.at(at.Now()), Count: 1}
			if p != nil {
				given.Count = p.Count
			}
			if c.Count >= 0 {
				given.Count = uint64(c.Count)
			} else if !c.JustIDs {
				given.Count++
			}
			k.take(given)
			more = c.page.take(at, id, h) || c.JustIDs
		}
	}
	k.flush()
	if !c.JustIDs {
		c.page.look(at)
	}
	return nil
}

// at returns the time of delivery to record. A time in the future is taken for now.
func (c *GroupClaim) at(now int64) int64 {
	at := now - c.Idle
	if c.Time >= 0 {
		at = c.Time
	}
	if at < 0 || at > now {
		return now
	}
	return at
}

func (c *GroupClaim) Finish(*broker.Session) {
	c.Entries = c.page.read()
	if !c.JustIDs {
		c.Entries = withoutGone(c.Entries)
	}
}

// claiming collects changes of pending entries, so that few facts record them.
type claiming struct {
	at       shard.Context
	g        *stream.Group
	consumer string
	taken    []stream.Pending
	gone     []stream.ID // ids of entries that no longer exist
	last     stream.ID
}

// before is called with each id before anything else is done with it. An id that is not greater
// than all before may be among these.
func (k *claiming) before(id stream.ID) {
	if !k.last.Before(id) {
		k.flush()
	}
	k.last = id
}

func (k *claiming) take(p stream.Pending) { k.taken = append(k.taken, p) }

func (k *claiming) flush() {
	setPending(k.at, k.g, k.consumer, k.taken)
	ackPending(k.at, k.g, k.gone)
	k.taken, k.gone = k.taken[:0], k.gone[:0]
}

// GroupSweep is GroupClaim for all entries that have been pending for long.
type GroupSweep struct {
	OnGroup
	Consumer string
	MinIdle  int64 // ms
	From     stream.ID
	Max      int // at most this many, at least 1, that fit as for GroupClaim; at most ten times as many are checked
	JustIDs  bool

	Next    stream.ID // where to continue; 0-0: at the end
	Entries []Entry
	Gone    []stream.ID // entries that were pending and no longer exist; they are not pending any more

	page page
}

// sweepLooks is how many pending entries are checked for each that is wanted.
const sweepLooks = 10

func (c *GroupSweep) Run(at shard.Context) error {
	c.page, c.Entries, c.Gone, c.Next = page{}, nil, nil, stream.ID{}
	g, err := c.group(at)
	if g == nil {
		return err
	}
	k := claiming{at: at, g: g, consumer: c.Consumer}
	looks, left, more := int64(c.Max)*sweepLooks, c.Max, true
	g.Ascend(c.From, func(p *stream.Pending) bool {
		if looks == 0 || left == 0 || !more {
			c.Next = p.ID
			return false
		}
		looks--
		h, there := at.Content().Stream.Find(p.ID)
		switch {
		case !there:
			c.Gone = append(c.Gone, p.ID)
			left--
		case c.MinIdle > 0 && at.Now()-p.Time < c.MinIdle:
		default:
			given := stream.Pending{ID: p.ID, Time: at.Now(), Count: p.Count}
			if !c.JustIDs {
				given.Count++
			}
			k.take(given)
			more = c.page.take(at, p.ID, h) || c.JustIDs
			left--
		}
		return true
	})
	k.gone = c.Gone
	k.flush()
	if !c.JustIDs {
		c.page.look(at)
	}
	return nil
}

func (c *GroupSweep) Finish(*broker.Session) {
	c.Entries = c.page.read()
	if !c.JustIDs {
		c.Entries = withoutGone(c.Entries)
	}
}

// GroupPending lists the pending entries of a group.
type GroupPending struct {
	OnGroup
	List       bool // list the entries, else only count them
	From, To   stream.ID
	MinIdle    int64 // ms
	Max        int   // at most this many
	OfConsumer bool  // only those of Consumer
	Consumer   string

	Total       int
	First, Last stream.ID
	ByConsumer  []ConsumerInfo // of those with something pending
	Entries     []PendingInfo
}

// PendingInfo is an entry that was delivered and has not been acknowledged.
type PendingInfo struct {
	ID       stream.ID
	Consumer string
	Time     int64 // Unix ms of its last delivery
	Idle     int64 // ms since its last delivery
	Count    uint64
}

func (c *GroupPending) Run(at shard.Context) error {
	c.Entries, c.ByConsumer = nil, nil
	g, err := c.group(at)
	if g == nil {
		return err
	}
	if !c.List {
		c.Total = g.Len()
		c.First, c.Last = g.Ends()
		for _, name := range g.Consumers() {
			if n := g.Consumer(name).Len(); n > 0 {
				c.ByConsumer = append(c.ByConsumer, ConsumerInfo{Name: name, Pending: n})
			}
		}
		return nil
	}
	add := func(p *stream.Pending) bool {
		if c.To.Before(p.ID) {
			return false
		}
		if c.MinIdle == 0 || at.Now()-p.Time >= c.MinIdle {
			c.Entries = append(c.Entries, newPendingInfo(p, at.Now()))
		}
		return len(c.Entries) < c.Max
	}
	switch {
	case c.Max <= 0:
	case !c.OfConsumer:
		g.Ascend(c.From, add)
	case g.Consumer(c.Consumer) != nil:
		g.Consumer(c.Consumer).Ascend(c.From, func(id stream.ID) bool { return add(g.Pending(id)) })
	}
	return nil
}

func newPendingInfo(p *stream.Pending, now int64) PendingInfo {
	return PendingInfo{ID: p.ID, Consumer: p.Consumer.Name, Time: p.Time, Idle: max(now-p.Time, 0), Count: p.Count}
}
