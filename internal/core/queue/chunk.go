package queue

import (
	"math"
	"sync"
)

// never is the time of an event that never comes.
const never = math.MaxInt64

// chunk holds the messages of one lane whose sequence numbers are base .. base+255; a message's
// slot is seq-base.
type chunk struct {
	base uint64
	lane *lane

	state       [statuses - 1]bitmap // indexed by Status-1; disjoint
	redelivered bitmap               // only for live slots; the flag in items is set on delivery
	live        uint16               // bits set in state
	ready       uint16               // bits set in state[Ready-1]

	// A chunk is hot (items) or packed (packed), or neither if it is the empty last chunk of its
	// lane.
	items   []Item // items[slot-off]; elements that are not live have a nil Env and otherwise stale values
	off     uint16
	encoded uint16 // messages in packed, live or not
	packed  []byte // immutable; shared with Frozen
	mixed   bool   // some messages are not Persistent

	loIndex, hiIndex uint64 // bounds of Index of the persistent messages

	key [heapKinds]int64 // the key in each heap
	pos [heapKinds]int32 // index in each heap, from 1; 0: not in it

	hotPrev, hotNext *chunk // list of hot chunks in the order in which they became hot
}

var chunkPool = sync.Pool{New: func() any { return new(chunk) }}

func newChunk(l *lane, base uint64) *chunk {
	c := chunkPool.Get().(*chunk)
	*c = chunk{base: base, lane: l, loIndex: math.MaxUint64}
	c.key = [heapKinds]int64{byExpiry: never, byDue: never, byBase: int64(base)}
	return c
}

func (c *chunk) status(slot int) Status {
	w, bit := uint8(slot)>>6, uint64(1)<<(slot&63)
	switch {
	case c.state[Unacked-1][w]&bit != 0:
		return Unacked
	case c.state[Ready-1][w]&bit != 0:
		return Ready
	case c.state[Scheduled-1][w]&bit != 0:
		return Scheduled
	case c.state[Parked-1][w]&bit != 0:
		return Parked
	case c.state[Blocked-1][w]&bit != 0:
		return Blocked
	}
	return Gone
}

func (c *chunk) liveMap() bitmap {
	var b bitmap
	for i := range b {
		b[i] = c.state[0][i] | c.state[1][i] | c.state[2][i] | c.state[3][i] | c.state[4][i]
	}
	return b
}

func (c *chunk) handle(slot int) Handle {
	return MakeHandle(c.lane.priority, c.base+uint64(slot))
}

// hotItem returns the item of a live slot of a hot chunk.
func (c *chunk) hotItem(slot int) *Item {
	it := &c.items[slot-int(c.off)]
	it.Flags &^= Redelivered
	if c.redelivered.has(slot) {
		it.Flags |= Redelivered
	}
	return it
}

// item returns the item of a live slot: in place if the chunk is hot, decoded if it is packed.
func (c *chunk) item(slot int) *Item {
	if c.packed == nil {
		return c.hotItem(slot)
	}
	it := c.decode(slot)
	return &it
}

// decode returns the item of a live slot of a packed chunk.
func (c *chunk) decode(slot int) Item {
	d := newDecoder(c.packed)
	for d.next() && d.slot < slot {
	}
	if d.slot != slot || d.Err() != nil {
		panic("queue: packed chunk lacks a live message")
	}
	return c.finish(&d)
}

// finish adds the fields that the chunk stores to a decoded item.
func (c *chunk) finish(d *decoder) Item {
	it := d.it
	it.Handle = c.handle(d.slot)
	if c.redelivered.has(d.slot) {
		it.Flags |= Redelivered
	}
	return it
}

// noteIndex extends the bounds of Index.
func (c *chunk) noteIndex(it *Item) {
	if it.Flags&Persistent == 0 {
		c.mixed = true
		return
	}
	c.loIndex = min(c.loIndex, it.Index)
	c.hiIndex = max(c.hiIndex, it.Index)
}

// walker visits the messages of a chunk that are live at its start, in order. The caller may change
// the status of the current slot.
type walker struct {
	slot int
	it   *Item

	c      *chunk
	live   bitmap
	dec    decoder
	packed bool
	tmp    Item
}

var walkers = sync.Pool{New: func() any { return new(walker) }}

func getWalker() *walker { return walkers.Get().(*walker) }

// release returns the walker to its pool.
func (w *walker) release() {
	*w = walker{}
	walkers.Put(w)
}

func (w *walker) start(c *chunk) { w.startAt(c, c.base) }

// startAt starts at the first message whose sequence number is at least seq, which is at most the
// chunk's last.
func (w *walker) startAt(c *chunk, seq uint64) {
	w.c, w.slot, w.live, w.packed = c, -1, c.liveMap(), c.packed != nil
	if seq > c.base {
		w.live.clearBefore(int(seq - c.base))
	}
	if w.packed {
		w.dec = newDecoder(c.packed)
	}
}

func (w *walker) next() bool {
	if !w.packed {
		if w.slot = w.live.from(w.slot + 1); w.slot == chunkLen {
			return false
		}
		w.it = w.c.hotItem(w.slot)
		return true
	}
	for w.dec.next() {
		if w.slot = w.dec.slot; w.live.has(w.slot) {
			w.tmp = w.c.finish(&w.dec)
			w.it = &w.tmp
			return true
		}
	}
	return false
}

// Arrays of items come in three sizes, so that a short queue stays small.
var (
	pool8   = sync.Pool{New: func() any { return new([8]Item) }}
	pool64  = sync.Pool{New: func() any { return new([64]Item) }}
	pool256 = sync.Pool{New: func() any { return new([chunkLen]Item) }}
)

// getItems returns an array for at least n items, with length 0. Its elements have no Env and
// otherwise stale values.
func getItems(n int) []Item {
	switch {
	case n <= 8:
		return pool8.Get().(*[8]Item)[:0]
	case n <= 64:
		return pool64.Get().(*[64]Item)[:0]
	default:
		return pool256.Get().(*[chunkLen]Item)[:0]
	}
}

// putItems returns an array of getItems to its pool. Its elements must not have an Env.
func putItems(items []Item) {
	switch cap(items) {
	case 8:
		pool8.Put((*[8]Item)(items[:8]))
	case 64:
		pool64.Put((*[64]Item)(items[:64]))
	case chunkLen:
		pool256.Put((*[chunkLen]Item)(items[:chunkLen]))
	}
}
