package broker

import (
	"encoding/binary"
	"slices"

	"fiveways/internal/core/queue"
	"fiveways/internal/core/stream"
)

// OnGroup is what commands about a group of a stream embed.
type OnGroup struct {
	OnStream
	Group   string
	NoGroup bool // there is no such group, and the command has done nothing
}

// findStream finds the stream of the group.
func (o *OnGroup) find(s *Session) (*Queue, error) { return o.findStream(s, toRead) }

// group is the group; without an error it may be nil: there is none.
func (o *OnGroup) group(sh *shard, q *Queue) (*stream.Group, error) {
	o.NoGroup = false
	s, err := o.stream(sh, q)
	if s == nil {
		return nil, err
	}
	g := s.Group(o.Group)
	o.NoGroup = g == nil
	return g, nil
}

// aboutGroup begins a fact of a group.
func (sh *shard) aboutGroup(q *Queue, kind byte, group string) []byte {
	return stream.AppendName(sh.aboutStream(q, kind), group)
}

// enterGroup has the consumer in the group, and seen now.
func (sh *shard) enterGroup(q *Queue, g *stream.Group, consumer string) (made bool) {
	if g.Consumer(consumer) != nil {
		g.Enter(consumer, sh.now)
		return false
	}
	fact := stream.AppendName(sh.aboutGroup(q, streamConsumer, g.Name), consumer)
	sh.changeStream(q, binary.AppendUvarint(fact, uint64(sh.now)))
	return true
}

// GroupSet makes a group or moves it.
type GroupSet struct {
	OnGroup
	Last   stream.ID
	Latest bool  // Last is the last id of the stream
	Read   int64 // how many entries Last makes since the first, or stream.Unknown
	Move   bool  // the group must be there, else it must not
	Create bool  // the stream is made when there is none
	Exists bool  // answer: without Move, the group is there already

	refused error // why the session may not make a stream of a queue that is there
}

func (t *GroupSet) find(s *Session) (*Queue, error) {
	if t.Create {
		t.refused = s.may(toConfigure, "queue", t.Queue)
		return t.findOrMakeQueue(s, toRead)
	}
	return t.findStream(s, toRead)
}

func (t *GroupSet) run(sh *shard, q *Queue) error {
	if t.Create {
		if q.stream == nil && q.isEmpty() && t.refused != nil {
			return t.refused
		}
		if _, err := t.makeStream(sh, q); err != nil {
			return err
		}
	}
	g, err := t.group(sh, q)
	t.Exists = g != nil && !t.Move
	t.NoGroup = t.NoGroup && t.Move
	if err != nil || t.Missing || t.Exists || t.NoGroup {
		return err
	}
	last := t.Last
	if t.Latest {
		last = q.stream.Last()
	}
	sh.changeStream(q, appendStand(sh.aboutGroup(q, streamGroup, t.Group), last, t.Read))
	return nil
}

// GroupDrop ends a group.
type GroupDrop struct{ OnGroup }

func (t *GroupDrop) run(sh *shard, q *Queue) error {
	g, err := t.group(sh, q)
	if g != nil {
		sh.changeStream(q, sh.aboutGroup(q, streamGroupGone, t.Group))
		sh.wakeReaders(q)
	}
	return err
}

// GroupJoin makes a consumer of a group.
type GroupJoin struct {
	OnGroup
	Consumer string
	Made     bool // there was none of the name
}

func (t *GroupJoin) run(sh *shard, q *Queue) error {
	g, err := t.group(sh, q)
	if g != nil {
		t.Made = sh.enterGroup(q, g, t.Consumer)
	}
	return err
}

// GroupLeave ends a consumer of a group. What is pending for it counts as acknowledged.
type GroupLeave struct {
	OnGroup
	Consumer string
	Pending  int // how much that was
}

func (t *GroupLeave) run(sh *shard, q *Queue) error {
	t.Pending = 0
	g, err := t.group(sh, q)
	if g == nil || g.Consumer(t.Consumer) == nil {
		return err
	}
	t.Pending = g.Consumer(t.Consumer).Len()
	sh.changeStream(q, stream.AppendName(sh.aboutGroup(q, streamConsumerGone, t.Group), t.Consumer))
	return nil
}

// GroupAck ends what is pending of entries.
type GroupAck struct {
	OnGroup
	IDs   []stream.ID
	Acked int
}

func (t *GroupAck) run(sh *shard, q *Queue) error {
	t.Acked = 0
	g, err := t.group(sh, q)
	if g == nil {
		return err
	}
	ids := slices.DeleteFunc(slices.Clone(t.IDs), func(id stream.ID) bool { return g.Pending(id) == nil })
	slices.SortFunc(ids, stream.ID.Compare)
	ids = slices.Compact(ids)
	sh.ackPending(q, g, ids)
	t.Acked = len(ids)
	return nil
}

// ackPending ends what is pending of entries, each named once.
func (sh *shard) ackPending(q *Queue, g *stream.Group, ids []stream.ID) {
	if len(ids) > 0 {
		sh.changeStream(q, appendIDs(sh.aboutGroup(q, streamAcked, g.Name), ids))
	}
}

// GroupRead gives entries to a consumer of a group, which is made when there is none of its name and it gets something.
type GroupRead struct {
	OnGroup
	Consumer string
	History  bool      // what is pending for the consumer is given again, not what nobody has
	After    stream.ID // with History: behind this one
	Max      int       // at most so many; 0: all
	NoAck    bool      // what is given is not pending then
	Runs     int       // how often it was tried: more than once when it had to wait

	Entries []StreamEntry // with History those that are gone, too

	page page
}

// got tells whether the command has an answer: with History an empty one is one.
func (r *GroupRead) got() bool {
	return r.History || r.NoGroup || r.Missing || len(r.page.entries)+len(r.Entries) > 0
}

func (r *GroupRead) run(sh *shard, q *Queue) error {
	r.Runs++
	r.page, r.Entries = page{}, nil
	g, err := r.group(sh, q)
	switch {
	case g == nil:
		return err
	case r.History:
		r.again(sh, q, g)
	default:
		r.fresh(sh, q, g)
	}
	return nil
}

// fresh gives what nobody was given.
func (r *GroupRead) fresh(sh *shard, q *Queue, g *stream.Group) {
	last, read := g.Last, g.Read
	var ids []stream.ID
	size := int64(0)
	if next, ok := g.Last.Next(); ok {
		q.stream.Ascend(next, func(id stream.ID, h queue.Handle) bool {
			last, read = q.stream.Advance(last, read, id)
			ids = append(ids, id)
			r.page.add(id, h)
			if it, status := q.state.Get(h); status != queue.Gone {
				size += shownBytes + int64(it.Size)
			}
			return len(ids) != r.Max && size < sh.b.lookBytes
		})
	}
	if len(ids) == 0 {
		return
	}
	if r.NoAck {
		ids = nil
	}
	fact := stream.AppendName(sh.aboutGroup(q, streamGiven, g.Name), r.Consumer)
	fact = appendStand(binary.AppendUvarint(fact, uint64(sh.now)), last, read)
	sh.changeStream(q, appendIDs(fact, ids))
	r.page.lookAlong(sh, q)
}

// again gives what is pending for the consumer once more.
func (r *GroupRead) again(sh *shard, q *Queue, g *stream.Group) {
	sh.enterGroup(q, g, r.Consumer)
	next, ok := r.After.Next()
	if !ok {
		return
	}
	var list []stream.Pending
	g.Consumer(r.Consumer).Ascend(next, func(id stream.ID) bool {
		h, there := q.stream.Find(id)
		r.page.add(id, h)
		if there {
			list = append(list, stream.Pending{ID: id, Time: sh.now, Count: g.Pending(id).Count + 1})
		}
		return len(r.page.entries) != r.Max
	})
	sh.setPending(q, g, r.Consumer, list)
	r.page.look(sh, q)
}

// setPending says what is pending of entries from now on, all of it for one consumer.
func (sh *shard) setPending(q *Queue, g *stream.Group, consumer string, list []stream.Pending) {
	if len(list) > 0 {
		fact := stream.AppendName(sh.aboutGroup(q, streamPending, g.Name), consumer)
		sh.changeStream(q, appendPending(binary.AppendUvarint(fact, uint64(sh.now)), list))
	}
}

func (r *GroupRead) finish(s *Session) {
	r.Entries = r.page.read(s)
	if !r.History {
		r.Entries = withoutGone(r.Entries)
	}
}
