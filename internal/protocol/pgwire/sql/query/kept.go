package query

import (
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// keptScan is a scan with side effects in a place that may be read several times in a statement: in
// a subquery, or on the right of a join that depends on the left row. As in PostgreSQL, the
// statement makes the call once and then reads the resulting rows again. A subquery whose columns
// make calls is kept by the query that PostgreSQL would join it to.
type keptScan struct {
	source
	from, to int // slots
	up, memo int // of the level that keeps the rows
}

// keepScans inserts keptScans where they are needed. again means that in may be read several times.
func (l *level) keepScans(in source, again bool) source {
	switch s := in.(type) {
	case *filter:
		s.in = l.keepScans(s.in, again)
	case *join:
		s.left, s.right = l.keepScans(s.left, again), l.keepScans(s.right, again || s.Again)
	case *relationScan:
		if _, takes := s.r.(schema.Taker); takes && again {
			return l.keptScan(s, s.base, s.self+1)
		}
	case *functionScan:
		if again && slices.ContainsFunc(s.List, (*exec.Call).IsVolatile) && !slices.ContainsFunc(s.List, callLooksOut) {
			last := s.List[len(s.List)-1]
			return l.keptScan(s, s.Base, max(last.Base+last.Width, s.Ordinality+1))
		}
	}
	return in
}

func (l *level) keptScan(in source, from, to int) source {
	return &keptScan{source: in, from: from, to: to, up: l.depth, memo: l.root().memo()}
}

// root returns the outermost level around l.
func (l *level) root() *level {
	for l.parent != nil {
		l = l.parent
	}
	return l
}

// volatileOutput reports whether the columns of a query contain volatile calls.
func volatileOutput(in query) bool {
	switch q := in.(type) {
	case *selectQuery:
		return slices.ContainsFunc(q.out, volatileBesideSublinks) ||
			slices.ContainsFunc(q.before, func(c computed) bool { return volatileBesideSublinks(c.e) }) ||
			slices.ContainsFunc(q.sets, func(s *exec.RowSet) bool { return s.Fn != nil && s.Fn.Volatility == expr.Volatile })
	case *setQuery:
		return volatileOutput(q.left) || volatileOutput(q.right)
	}
	return false
}

// callLooksOut reports whether the arguments may differ from one read to the next.
func callLooksOut(c *exec.Call) bool {
	return c.Scalar != nil && looksOut(c.Scalar) || slices.ContainsFunc(c.Args, looksOut)
}

func (k *keptScan) run(env *expr.Env, emit func() error) error {
	m := memoOf(env, k.up, k.memo)
	place := env.Rows[0][k.from:k.to]
	if !m.done {
		rows, err := k.read(env, place)
		if err != nil {
			return err
		}
		m.done, m.rows = true, rows
	}
	for _, row := range m.rows {
		if err := env.Ctx.Err(); err != nil {
			return err
		}
		copy(place, row)
		if err := emit(); err != nil {
			return err
		}
	}
	return nil
}

// read makes the call. place is the part of the row that the scan fills in.
func (k *keptScan) read(env *expr.Env, place []value.Datum) (rows [][]value.Datum, err error) {
	var heap expr.Heap
	err = k.source.run(env, func() error {
		rows = append(rows, slices.Clone(place))
		return heap.Keep(place)
	})
	return rows, err
}
