package exec

import (
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// SortKey is one item of ORDER BY.
type SortKey struct {
	Expr       expr.Expr
	Type       *value.Type
	Descending bool
	NullsFirst bool
}

func evalKeys(keys []SortKey, env *expr.Env) ([]value.Datum, error) {
	vals := make([]value.Datum, len(keys))
	for i, k := range keys {
		d, err := k.Expr.Eval(env)
		if err != nil {
			return nil, err
		}
		vals[i] = d
	}
	return vals, nil
}

// compareKeys compares two lists of key values.
func compareKeys(keys []SortKey, a, b []value.Datum) (int, error) {
	for i, k := range keys {
		c, err := k.compare(a[i], b[i])
		if c != 0 || err != nil {
			return c, err
		}
	}
	return 0, nil
}

func (k SortKey) compare(a, b value.Datum) (int, error) {
	if a == nil || b == nil {
		switch {
		case a == nil && b == nil:
			return 0, nil
		case (a == nil) == k.NullsFirst:
			return -1, nil
		}
		return 1, nil
	}
	c, err := value.Compare(k.Type, a, b)
	if k.Descending {
		c = -c
	}
	return c, err
}

// Sort sorts items by the keys that of returns. The sort is stable.
func Sort[T any](items []T, keys []SortKey, of func(T) []value.Datum) error {
	var failed error
	slices.SortStableFunc(items, func(a, b T) int {
		c, err := compareKeys(keys, of(a), of(b))
		if err != nil && failed == nil {
			failed = err
		}
		return c
	})
	return failed
}

// Sorter collects rows to be sorted.
type Sorter struct {
	keys []SortKey
	most int // rows that are needed; negative: all
	heap *expr.Heap
	rows []sortedRow
}

type sortedRow struct{ row, keys []value.Datum }

// NewSorter returns a Sorter that needs the first most rows in order; negative: all. It counts its
// rows in heap, which must count nothing else if it does not need all.
func NewSorter(keys []SortKey, most int, heap *expr.Heap) *Sorter {
	return &Sorter{keys: keys, most: most, heap: heap}
}

// spareRows is the number of rows kept beyond those that are needed before they are sorted and cut.
const spareRows = 1000

// Add adds the current row.
func (s *Sorter) Add(env *expr.Env) error {
	keys, err := evalKeys(s.keys, env)
	if err != nil {
		return err
	}
	added := sortedRow{slices.Clone(env.Rows[0]), keys}
	s.rows = append(s.rows, added)
	if s.most >= 0 && len(s.rows) >= 2*s.most+spareRows {
		return s.cut()
	}
	return s.keep(added)
}

func (s *Sorter) keep(r sortedRow) error {
	if err := s.heap.Keep(r.keys); err != nil {
		return err
	}
	return s.heap.Keep(r.row)
}

func (s *Sorter) sort() error {
	return Sort(s.rows, s.keys, func(r sortedRow) []value.Datum { return r.keys })
}

// cut drops the rows that are not needed.
func (s *Sorter) cut() error {
	if err := s.sort(); err != nil {
		return err
	}
	clear(s.rows[s.most:])
	s.rows, *s.heap = s.rows[:s.most], expr.Heap{}
	for _, r := range s.rows {
		if err := s.keep(r); err != nil {
			return err
		}
	}
	return nil
}

// Each makes each row the current one, in the order of the keys, and calls emit.
func (s *Sorter) Each(env *expr.Env, emit func() error) error {
	if err := s.sort(); err != nil {
		return err
	}
	for _, r := range s.rows {
		copy(env.Rows[0], r.row)
		if err := emit(); err != nil {
			return err
		}
	}
	return nil
}
