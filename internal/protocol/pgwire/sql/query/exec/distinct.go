package exec

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Seen is a set of the keys of rows. Its memory is counted in heap.
type Seen struct {
	keys map[string]bool
	heap *expr.Heap
}

// NewSeen returns an empty set.
func NewSeen(heap *expr.Heap) Seen { return Seen{map[string]bool{}, heap} }

// Again adds a key, and reports whether the set had it before.
func (s Seen) Again(key []byte) (bool, error) {
	if s.keys[string(key)] {
		return true, nil
	}
	s.keys[string(key)] = true
	return false, s.heap.KeepText(len(key))
}

// AppendRow appends the key of a row with these columns.
func AppendRow(buf []byte, cols []value.Field, row []value.Datum) []byte {
	for i, c := range cols {
		buf = value.AppendKey(buf, c.Type, row[i])
	}
	return buf
}

// Distinct returns emit for rows with these columns, without those that were there before.
func Distinct(cols []value.Field, emit func([]value.Datum) error) func([]value.Datum) error {
	seen, buf := NewSeen(&expr.Heap{}), []byte(nil)
	return func(row []value.Datum) error {
		buf = AppendRow(buf[:0], cols, row)
		if again, err := seen.Again(buf); again || err != nil {
			return err
		}
		return emit(row)
	}
}
