package exec

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Index finds a value among those of the only column of rows.
type Index struct {
	typ  *value.Type
	keys map[string]bool
	null bool // a row is NULL
}

// NewIndex returns an index of rows, whose values are compared as values of a type. Its memory is
// counted in heap.
func NewIndex(typ *value.Type, rows [][]value.Datum, heap *expr.Heap) (*Index, error) {
	x := &Index{typ: typ, keys: make(map[string]bool, len(rows))}
	var buf []byte
	for _, row := range rows {
		if row[0] == nil {
			x.null = true
			continue
		}
		buf = value.AppendKey(buf[:0], typ, row[0])
		x.keys[string(buf)] = true
		if err := heap.KeepText(len(buf)); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// In returns whether d is among the values, as SQL's IN does: it is NULL if that depends on a NULL.
func (x *Index) In(d value.Datum) value.Datum {
	switch {
	case len(x.keys) == 0 && !x.null:
		return false
	case d == nil:
		return nil
	case x.keys[string(value.AppendKey(nil, x.typ, d))]:
		return true
	case x.null:
		return nil
	}
	return false
}
