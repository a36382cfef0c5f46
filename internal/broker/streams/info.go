package streams

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/stream"
)

// Info describes a stream. Errors: ErrTooLarge if the Entries to show would take more than a
// quarter of the memory that the broker may use.
type Info struct {
	OnStream
	Groups    bool // with the groups
	Consumers bool // and their consumers
	Pending   bool // and their pending entries
	Entries   int  // how many entries to show from the beginning; below 0: only the first and the last
	Max       int  // how many pending entries to show of each at most; 0: all

	Len         int
	Blocks      int
	Last        stream.ID
	MaxDeleted  stream.ID
	Added       uint64
	FirstID     stream.ID
	Shown       []Entry // the first and the last entry if there are any, or Entries of them
	GroupInfos  []GroupInfo
	GroupsThere int

	page page
}

// GroupInfo describes a group.
type GroupInfo struct {
	Name      string
	Last      stream.ID
	Read      int64 // stream.Unknown: not known
	Lag       int64
	HasLag    bool // false: not known
	Total     int  // pending entries
	There     int  // consumers
	Pending   []PendingInfo
	Consumers []ConsumerInfo
}

// ConsumerInfo describes a consumer of a group.
type ConsumerInfo struct {
	Name    string
	Seen    int64 // Unix ms
	Idle    int64 // ms since
	Pending int
	List    []PendingInfo
}

func (c *Info) Find(f broker.Finder) (*shard.Queue, error) { return c.findStream(f, broker.Reading) }

func (c *Info) Run(at shard.Context) error {
	c.page, c.Shown, c.GroupInfos = page{bounded: c.Entries >= 0}, nil, nil
	s, err := c.stream(at)
	if s == nil {
		return err
	}
	c.Len, c.Blocks, c.Last, c.MaxDeleted, c.Added = s.Len(), s.Blocks(), s.Last(), s.MaxDeleted(), s.Added()
	c.FirstID = s.FirstEntry()
	c.GroupsThere = len(s.Groups())
	over := c.show(at, s)
	if c.page.look(at); over || c.page.fit > 0 && len(c.page.entries) > 1 {
		c.page = page{}
		return at.Queue().Fail(failure.ErrTooLarge)
	}
	if c.Groups {
		for _, name := range s.Groups() {
			c.GroupInfos = append(c.GroupInfos, c.group(s, s.Group(name), at.Now()))
		}
	}
	return nil
}

// show chooses the entries, and reports whether there are more than fit.
func (c *Info) show(at shard.Context, s *stream.Stream) (over bool) {
	switch {
	case s.Len() == 0:
	case c.Entries < 0:
		for _, id := range []stream.ID{s.FirstEntry(), s.LastEntry()} {
			h, _ := s.Find(id)
			c.page.add(id, h)
		}
	default:
		full := false
		s.Ascend(stream.ID{}, func(id stream.ID, h queue.Handle) bool {
			if over = full; over {
				return false
			}
			full = !c.page.take(at, id, h)
			return len(c.page.entries) != c.Entries
		})
	}
	return over
}

func (c *Info) group(s *stream.Stream, g *stream.Group, now int64) GroupInfo {
	info := GroupInfo{Name: g.Name, Last: g.Last, Read: g.Read, Total: g.Len(), There: len(g.Consumers())}
	info.Lag, info.HasLag = s.Lag(g)
	if c.Pending {
		g.Ascend(stream.ID{}, func(p *stream.Pending) bool {
			info.Pending = append(info.Pending, newPendingInfo(p, now))
			return len(info.Pending) != c.Max
		})
	}
	if !c.Consumers {
		return info
	}
	for _, name := range g.Consumers() {
		k := g.Consumer(name)
		ci := ConsumerInfo{Name: name, Seen: k.Seen, Idle: max(now-k.Seen, 0), Pending: k.Len()}
		if c.Pending {
			k.Ascend(stream.ID{}, func(id stream.ID) bool {
				ci.List = append(ci.List, newPendingInfo(g.Pending(id), now))
				return len(ci.List) != c.Max
			})
		}
		info.Consumers = append(info.Consumers, ci)
	}
	return info
}

func (c *Info) Finish(*broker.Session) { c.Shown = withoutGone(c.page.read()) }
