package streams

import (
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/stream"
)

// OnGroup is embedded by commands about a group of a stream.
type OnGroup struct {
	OnStream
	Group   string
	NoGroup bool // result: the group does not exist, and the command has done nothing
}

// findStream finds the stream of the group.
func (o *OnGroup) Find(f broker.Finder) (*shard.Queue, error) {
	return o.findStream(f, broker.Reading)
}

// group returns the group; without an error it may be nil: it does not exist.
func (o *OnGroup) group(at shard.Context) (*stream.Group, error) {
	o.NoGroup = false
	s, err := o.stream(at)
	if s == nil {
		return nil, err
	}
	g := s.Group(o.Group)
	o.NoGroup = g == nil
	return g, nil
}

// enterGroup creates the consumer if needed, and records that it was seen now.
func enterGroup(at shard.Context, g *stream.Group, consumer string) (made bool) {
	if g.Consumer(consumer) != nil {
		g.Touch(consumer, at.Now())
		return false
	}
	at.Facts().EnterGroup(at.Content(), g.Name, consumer, at.Now())
	return true
}

// GroupSet creates a group or moves it.
type GroupSet struct {
	OnGroup
	Last   stream.ID
	Latest bool  // set Last to the last id of the stream
	Read   int64 // how many entries there have been up to Last, or stream.Unknown
	Move   bool  // the group must exist; without Move it must not
	Create bool  // create a missing stream
	Exists bool  // result: without Move, the group exists already

	refused error // why the session may not make the existing queue a stream
}

func (t *GroupSet) Find(f broker.Finder) (*shard.Queue, error) {
	if t.Create {
		t.refused = f.May(broker.Configuring, t.Queue)
		return t.findOrMakeQueue(f, broker.Reading)
	}
	return t.findStream(f, broker.Reading)
}

func (t *GroupSet) Run(at shard.Context) error {
	if t.Create {
		if at.Content().Stream == nil && at.Empty() && t.refused != nil {
			return t.refused
		}
		if _, err := t.makeStream(at); err != nil {
			return err
		}
	}
	g, err := t.group(at)
	t.Exists = g != nil && !t.Move
	t.NoGroup = t.NoGroup && t.Move
	if err != nil || t.Missing || t.Exists || t.NoGroup {
		return err
	}
	last := t.Last
	if t.Latest {
		last = at.Content().Stream.Last()
	}
	at.Facts().SetGroup(at.Content(), t.Group, last, t.Read)
	return nil
}

// GroupDrop deletes a group.
type GroupDrop struct{ OnGroup }

func (t *GroupDrop) Run(at shard.Context) error {
	g, err := t.group(at)
	if g != nil {
		at.Facts().DropGroup(at.Content(), t.Group)
		at.WakeReaders()
	}
	return err
}

// GroupJoin creates a consumer of a group.
type GroupJoin struct {
	OnGroup
	Consumer string
	Made     bool // result: it did not exist
}

func (t *GroupJoin) Run(at shard.Context) error {
	g, err := t.group(at)
	if g != nil {
		t.Made = enterGroup(at, g, t.Consumer)
	}
	return err
}

// GroupLeave deletes a consumer of a group. Its pending entries count as acknowledged.
type GroupLeave struct {
	OnGroup
	Consumer string
	Pending  int // result: how many entries these were
}

func (t *GroupLeave) Run(at shard.Context) error {
	t.Pending = 0
	g, err := t.group(at)
	if g == nil || g.Consumer(t.Consumer) == nil {
		return err
	}
	t.Pending = g.Consumer(t.Consumer).Len()
	at.Facts().LeaveGroup(at.Content(), t.Group, t.Consumer)
	return nil
}

// GroupAck acknowledges pending entries.
type GroupAck struct {
	OnGroup
	IDs   []stream.ID
	Acked int
}

func (t *GroupAck) Run(at shard.Context) error {
	t.Acked = 0
	g, err := t.group(at)
	if g == nil {
		return err
	}
	ids := slices.DeleteFunc(slices.Clone(t.IDs), func(id stream.ID) bool { return g.Pending(id) == nil })
	slices.SortFunc(ids, stream.ID.Compare)
	ids = slices.Compact(ids)
	ackPending(at, g, ids)
	t.Acked = len(ids)
	return nil
}

// ackPending acknowledges pending entries, each named once.
func ackPending(at shard.Context, g *stream.Group, ids []stream.ID) {
	if len(ids) > 0 {
		at.Facts().AckPending(at.Content(), g.Name, ids)
	}
}

// GroupRead delivers entries to a consumer of a group, which is created if it does not exist and
// gets something.
type GroupRead struct {
	OnGroup
	Consumer string
	History  bool      // deliver the consumer's pending entries again, instead of new ones
	After    stream.ID // with History: only entries after this id
	Max      int       // at most this many; 0: all that fit into a quarter of the memory that the broker may use
	NoAck    bool      // the delivered entries do not become pending
	Runs     int       // how often the command ran: more than once if it had to wait

	Entries []Entry // result; with History also entries that no longer exist

	page page
}

// got reports whether the command has an answer: with History an empty one counts.
func (r *GroupRead) Got() bool {
	return r.History || r.NoGroup || r.Missing || len(r.page.entries)+len(r.Entries) > 0
}

func (r *GroupRead) Run(at shard.Context) error {
	r.Runs++
	r.page, r.Entries = page{}, nil
	g, err := r.group(at)
	switch {
	case g == nil:
		return err
	case r.History:
		r.again(at, g)
	default:
		r.fresh(at, g)
	}
	return nil
}

// fresh delivers entries that the group has not read.
func (r *GroupRead) fresh(at shard.Context, g *stream.Group) {
	last, read := g.Last, g.Read
	var ids []stream.ID
	if next, ok := g.Last.Next(); ok {
		at.Content().Stream.Ascend(next, func(id stream.ID, h queue.Handle) bool {
			last, read = at.Content().Stream.Advance(last, read, id)
			ids = append(ids, id)
			return r.page.take(at, id, h) && len(ids) != r.Max
		})
	}
	if len(ids) == 0 {
		return
	}
	if r.NoAck {
		ids = nil
	}
	at.Facts().Given(at.Content(), g.Name, r.Consumer, at.Now(), last, read, ids)
	r.page.lookAlong(at)
}

// again delivers the consumer's pending entries once more.
func (r *GroupRead) again(at shard.Context, g *stream.Group) {
	enterGroup(at, g, r.Consumer)
	next, ok := r.After.Next()
	if !ok {
		return
	}
	var list []stream.Pending
	g.Consumer(r.Consumer).Ascend(next, func(id stream.ID) bool {
		h, there := at.Content().Stream.Find(id)
		if there {
			list = append(list, stream.Pending{ID: id, Time: at.Now(), Count: g.Pending(id).Count + 1})
		}
		return r.page.take(at, id, h) && len(r.page.entries) != r.Max
	})
	setPending(at, g, r.Consumer, list)
	r.page.look(at)
}

// setPending records the pending state of entries, all for one consumer.
func setPending(at shard.Context, g *stream.Group, consumer string, list []stream.Pending) {
	if len(list) > 0 {
		at.Facts().SetPending(at.Content(), g.Name, consumer, at.Now(), list)
	}
}

func (r *GroupRead) Finish(*broker.Session) {
	r.Entries = r.page.read()
	if !r.History {
		r.Entries = withoutGone(r.Entries)
	}
}
