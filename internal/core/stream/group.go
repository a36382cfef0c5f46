package stream

import (
	"maps"
	"slices"
)

// Group reads the entries of a stream: each is delivered to one of its consumers, and is pending
// until acknowledged.
type Group struct {
	Name string
	Last ID    // the last entry that was delivered
	Read int64 // number of entries ever added up to Last, or Unknown

	pending   list[Pending]
	consumers map[string]*Consumer
}

// Consumer is one reader of a group.
type Consumer struct {
	Name string
	Seen int64 // Unix ms of its last read or claim; not exact after a crash
	own  list[ownID]
}

// Pending is an entry that was delivered to a consumer but not acknowledged. The entry itself may
// be gone.
type Pending struct {
	ID       ID
	Consumer *Consumer
	Time     int64 // Unix ms of its last delivery
	Count    uint64
}

func (p Pending) key() ID { return p.ID }

type ownID ID

func (o ownID) key() ID { return ID(o) }

// Group returns the named group, or nil if there is none.
func (s *Stream) Group(name string) *Group { return s.groups[name] }

// Groups returns the sorted names of the groups.
func (s *Stream) Groups() []string { return slices.Sorted(maps.Keys(s.groups)) }

// SetGroup creates a group, or moves an existing one.
func (s *Stream) SetGroup(name string, last ID, read int64) *Group {
	g := s.groups[name]
	if g == nil {
		g = &Group{Name: name, consumers: map[string]*Consumer{}}
		if s.groups == nil {
			s.groups = map[string]*Group{}
		}
		s.groups[name] = g
	}
	g.Last, g.Read = last, read
	return g
}

// DropGroup removes a group with everything pending in it.
func (s *Stream) DropGroup(name string) { delete(s.groups, name) }

// Consumer returns the named consumer, or nil if there is none.
func (g *Group) Consumer(name string) *Consumer { return g.consumers[name] }

// Consumers returns the sorted names of the consumers.
func (g *Group) Consumers() []string { return slices.Sorted(maps.Keys(g.consumers)) }

// Enter returns a consumer, which it creates if needed, and records that it was seen at a time in
// Unix ms.
func (g *Group) Enter(name string, seen int64) *Consumer {
	c := g.consumers[name]
	if c == nil {
		c = &Consumer{Name: name}
		g.consumers[name] = c
	}
	c.Seen = seen
	return c
}

// Touch records, in memory only, when an existing consumer was seen, Unix ms.
func (g *Group) Touch(name string, seen int64) { g.consumers[name].Seen = seen }

// Leave removes a consumer. Its pending entries are dropped as if acknowledged; Leave returns their
// number.
func (g *Group) Leave(name string) int {
	c := g.consumers[name]
	if c == nil {
		return 0
	}
	c.own.ascend(ID{}, func(id *ownID) bool {
		g.pending.remove(ID(*id))
		return true
	})
	delete(g.consumers, name)
	return c.own.n
}

// Give makes an entry pending for a consumer, and for no other.
func (g *Group) Give(c *Consumer, id ID, at int64, count uint64) {
	p := g.pending.get(id)
	if p == nil {
		g.pending.put(Pending{id, c, at, count})
		c.own.put(ownID(id))
		return
	}
	if p.Consumer != c {
		p.Consumer.own.remove(id)
		c.own.put(ownID(id))
	}
	p.Consumer, p.Time, p.Count = c, at, count
}

// Ack ends the pending state of an entry. It returns false if the entry was not pending.
func (g *Group) Ack(id ID) bool {
	p := g.pending.get(id)
	if p == nil {
		return false
	}
	p.Consumer.own.remove(id)
	return g.pending.remove(id)
}

// Pending returns the pending state of an entry, or nil if it is not pending. The result is valid
// until the next change of the group and must not be changed.
func (g *Group) Pending(id ID) *Pending { return g.pending.get(id) }

// Len returns how many entries are pending.
func (g *Group) Len() int { return g.pending.n }

// Ends returns the first and the last pending entry, or 0-0 if there is none.
func (g *Group) Ends() (first, last ID) { return g.pending.ends() }

// Ascend calls fn for the pending entries in order of id, starting at from, until fn returns false.
func (g *Group) Ascend(from ID, fn func(*Pending) bool) { g.pending.ascend(from, fn) }

// Len returns how many entries are pending for the consumer.
func (c *Consumer) Len() int { return c.own.n }

// Ascend calls fn for the ids that are pending for the consumer, starting at from, until fn returns
// false.
func (c *Consumer) Ascend(from ID, fn func(ID) bool) {
	c.own.ascend(from, func(id *ownID) bool { return fn(ID(*id)) })
}
