package stream

import (
	"math"
	"slices"
	"sort"

	"fiveways.dev/fiveways/internal/core/queue"
)

// blockEntries is how many entries a block accepts in total. It is the size of a node of Redis'
// streams, so that trimming whole nodes removes the same entries as in Redis.
const blockEntries = 100

// index holds the entries in order.
type index struct {
	blocks []*block
	n      int
}

// block is a sequence of consecutive entries.
type block struct {
	ms     uint64 // of the first entry added
	handle uint64 // of the first entry added
	gone   int    // number of deleted entries
	top    ID     // of the last entry added, which may be gone
	spots  []spot // never empty; entries of the array do not change, because clones share it
}

// spot is one entry: its time and handle relative to those of the block, and its sequence number.
type spot struct {
	ms, handle uint32
	seq        uint64
}

func (b *block) id(i int) ID { return ID{b.ms + uint64(b.spots[i].ms), b.spots[i].seq} }

func (b *block) at(i int) queue.Handle { return queue.Handle(b.handle + uint64(b.spots[i].handle)) }

func (b *block) lastID() ID { return b.id(len(b.spots) - 1) }

func (b *block) lastHandle() queue.Handle { return b.at(len(b.spots) - 1) }

// takes reports whether the next entry fits in the block.
func (b *block) takes(id ID, h queue.Handle) bool {
	return len(b.spots)+b.gone < blockEntries && id.Ms-b.ms <= math.MaxUint32 && uint64(h)-b.handle <= math.MaxUint32
}

// add appends an entry.
func (x *index) add(id ID, h queue.Handle) {
	var b *block
	if k := len(x.blocks); k > 0 {
		b = x.blocks[k-1]
	}
	if b == nil || id.Ms < b.ms || !b.takes(id, h) {
		b = &block{ms: id.Ms, handle: uint64(h)}
		x.blocks = append(x.blocks, b)
	}
	if len(b.spots) == cap(b.spots) { // append alone would grow to 128
		grown := make([]spot, len(b.spots), min(max(2*cap(b.spots), 2), blockEntries))
		copy(grown, b.spots)
		b.spots = grown
	}
	b.top = id
	b.spots = append(b.spots, spot{uint32(id.Ms - b.ms), uint32(uint64(h) - b.handle), id.Seq})
	x.n++
}

// seek returns the position of the first entry at or after id: a block and an index in it. The
// block is len(x.blocks) if there is none.
func (x *index) seek(id ID) (k, i int) {
	k = sort.Search(len(x.blocks), func(k int) bool { return !x.blocks[k].lastID().Before(id) })
	if k < len(x.blocks) {
		b := x.blocks[k]
		i = sort.Search(len(b.spots), func(i int) bool { return !b.id(i).Before(id) })
	}
	return k, i
}

// seekHandle is seek by handle.
func (x *index) seekHandle(h queue.Handle) (k, i int) {
	k = sort.Search(len(x.blocks), func(k int) bool { return x.blocks[k].lastHandle() >= h })
	if k < len(x.blocks) {
		b := x.blocks[k]
		i = sort.Search(len(b.spots), func(i int) bool { return b.at(i) >= h })
	}
	return k, i
}

func (x *index) find(id ID) (queue.Handle, bool) {
	k, i := x.seek(id)
	if k == len(x.blocks) || x.blocks[k].id(i) != id {
		return 0, false
	}
	return x.blocks[k].at(i), true
}

func (x *index) first() (id ID, ok bool) {
	if x.n == 0 {
		return ID{}, false
	}
	return x.blocks[0].id(0), true
}

func (x *index) last() (id ID, ok bool) {
	if x.n == 0 {
		return ID{}, false
	}
	return x.blocks[len(x.blocks)-1].lastID(), true
}

// remove removes the entries with handles in [from, to). It returns the id of the last of them, and
// their number.
func (x *index) remove(from, to queue.Handle) (last ID, n int) {
	k, i := x.seekHandle(from)
	first := k
	for ; k < len(x.blocks); k, i = k+1, 0 {
		b := x.blocks[k]
		j := i
		for j < len(b.spots) && b.at(j) < to {
			j++
		}
		if j == i {
			break
		}
		last = b.id(j - 1)
		n += j - i
		b.gone += j - i
		end := j == len(b.spots)
		switch {
		case end:
			b.spots = b.spots[:i:i]
		case i == 0:
			b.spots = b.spots[j:]
		default:
			b.spots = slices.Concat(b.spots[:i], b.spots[j:])
		}
		if !end {
			break // later entries are beyond to
		}
	}
	x.n -= n
	x.tidy(first, min(k+1, len(x.blocks)))
	return last, n
}

// tidy removes the empty blocks in a range.
func (x *index) tidy(from, to int) {
	for from < to && len(x.blocks[from].spots) > 0 {
		from++
	}
	end := from
	for end < to && len(x.blocks[end].spots) == 0 {
		end++
	}
	switch {
	case from == end:
	case from == 0: // usually entries are removed from the front; nothing needs to move
		clear(x.blocks[:end])
		x.blocks = x.blocks[end:]
	default:
		x.blocks = slices.Delete(x.blocks, from, end)
	}
}

// ascend calls fn for entries in order, starting at from, until fn returns false.
func (x *index) ascend(from ID, fn func(ID, queue.Handle) bool) {
	for k, i := x.seek(from); k < len(x.blocks); k, i = k+1, 0 {
		for b := x.blocks[k]; i < len(b.spots); i++ {
			if !fn(b.id(i), b.at(i)) {
				return
			}
		}
	}
}

// descend calls fn for entries in descending order, starting at the last one at or before from,
// until fn returns false.
func (x *index) descend(from ID, fn func(ID, queue.Handle) bool) {
	k, i := x.seek(from)
	if k < len(x.blocks) && x.blocks[k].id(i) == from {
		i++
	}
	if k == len(x.blocks) {
		k--
		if k >= 0 {
			i = len(x.blocks[k].spots)
		}
	}
	for k >= 0 {
		b := x.blocks[k]
		for i--; i >= 0; i-- {
			if !fn(b.id(i), b.at(i)) {
				return
			}
		}
		if k--; k >= 0 {
			i = len(x.blocks[k].spots)
		}
	}
}

// clone copies the blocks. Another goroutine may read the copies.
func (x *index) clone() []block {
	out := make([]block, len(x.blocks))
	for k, b := range x.blocks {
		out[k] = block{ms: b.ms, handle: b.handle, spots: b.spots}
	}
	return out
}
