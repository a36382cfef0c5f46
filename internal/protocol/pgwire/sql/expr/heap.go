package expr

import (
	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// maxHeap is the most that one place of a statement keeps in memory, in bytes: rows to be sorted,
// an array that grows, ... PostgreSQL writes more than its work_mem to files; here a statement must
// leave the memory to the messages.
const maxHeap = 256 << 20

// Heap counts what one place of a statement keeps in memory. The zero value keeps nothing yet.
type Heap struct{ bytes int }

// Keep counts values that are kept from now on, or is an error when they are too much.
func (h *Heap) Keep(row []value.Datum) error {
	for _, d := range row {
		h.bytes += size(d)
	}
	return h.check()
}

// KeepText counts a text.
func (h *Heap) KeepText(n int) error {
	h.bytes += n + 2*wordBytes
	return h.check()
}

func (h *Heap) check() error {
	h.bytes += 2 * wordBytes // what holds it
	if h.bytes > maxHeap {
		return pgerror.New(pgerror.OutOfMemory, "out of memory").WithDetail("A statement cannot keep more than %d MB.", maxHeap>>20)
	}
	return nil
}

const wordBytes = 8

// size is about what a value takes in memory.
func size(d value.Datum) int {
	n := 2 * wordBytes
	switch v := d.(type) {
	case nil, bool:
	case string:
		n += 2*wordBytes + len(v)
	case []byte:
		n += 3*wordBytes + len(v)
	case *value.Array:
		n += 6 * wordBytes
		for _, e := range v.Elems {
			n += size(e)
		}
	case value.Record:
		for _, e := range v {
			n += size(e)
		}
	case hstore.Map:
		for _, p := range v {
			n += 5*wordBytes + len(p.Key) + len(p.Value)
		}
	default:
		n += 2 * wordBytes
	}
	return n
}
