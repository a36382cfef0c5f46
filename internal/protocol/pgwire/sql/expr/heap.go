package expr

import (
	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// maxHeap limits the memory, in bytes, of one buffering operation in a statement, such as sorting
// rows or building an array. PostgreSQL spills to disk beyond work_mem; here the limit keeps memory
// available for messages.
const maxHeap = 256 << 20

// Heap counts the memory of one buffering operation. The zero value is empty.
type Heap struct{ bytes int }

// Keep counts values that will be retained. It returns an error if they exceed the limit.
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
	h.bytes += 2 * wordBytes // overhead of the container
	if h.bytes > maxHeap {
		return pgerror.New(pgerror.OutOfMemory, "out of memory").WithDetail("A statement cannot keep more than %d MB.", maxHeap>>20)
	}
	return nil
}

const wordBytes = 8

// size estimates the memory of a value.
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
