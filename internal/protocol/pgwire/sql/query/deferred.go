package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// A sub-select in FROM may have columns that run a query for each row, although most rows are then
// filtered out by its other columns: asyncpg reads the types of a statement that way. PostgreSQL
// merges such a sub-select into the query around it, and so computes these columns only for the
// rows that are left. Here they are deferred: the scan computes the others, asks whether the row is
// wanted, and only then computes the deferred ones.

// deferred returns which columns of a sub-select in FROM are deferred; nil: none. LIMIT counts the
// rows that are not wanted, too, and what is volatile must run for them.
func (l *level) deferred(q query, n *pg.SelectStmt) []bool {
	s, ok := q.(*selectQuery)
	if !ok || s.limits != (exec.Limits{}) || !slices.ContainsFunc(s.out, hasSublink) || slices.ContainsFunc(n.TargetList, l.volatileTree) {
		return nil
	}
	columns := make([]bool, len(s.out))
	for i, e := range s.out {
		columns[i] = hasSublink(e)
	}
	return columns
}

// volatileTree reports whether a tree calls a volatile function or reads a Taker.
func (l *level) volatileTree(n *pg.Node) bool {
	return tree.Contains(n, func(m protoreflect.ProtoMessage) bool {
		switch n := m.(type) {
		case *pg.FuncCall:
			path := tree.Names(n.Funcname)
			in := ""
			if len(path) > 1 {
				in = path[len(path)-2]
			}
			return slices.ContainsFunc(l.p.functions(in, path[len(path)-1]), func(f *expr.Function) bool {
				return f.Volatility == expr.Volatile
			})
		case *pg.RangeVar:
			r, err := l.p.Relation(n)
			_, takes := r.(schema.Taker)
			return err == nil && takes
		}
		return false
	})
}

// filters reports whether s can check a condition on these slots before it computes its deferred
// columns.
func (s *queryScan) filters(slots []int) bool {
	return s.deferred != nil && !slices.ContainsFunc(slots, s.defers)
}

// defers reports whether a slot is that of a deferred column.
func (s *queryScan) defers(slot int) bool {
	return slot >= s.base && slot < s.base+len(s.deferred) && s.deferred[slot-s.base]
}

// runIf is run for the rows for which wanted returns true; nil: for all.
func (s *queryScan) runIf(env *expr.Env, wanted func() (bool, error), emit func() error) error {
	put := func(row []value.Datum) { copy(env.Rows[0][s.base:], row) }
	give := func(row []value.Datum) error {
		put(row)
		return emit()
	}
	if len(s.conds) == 0 && wanted == nil {
		return s.q.run(env, give)
	}
	return s.q.(*selectQuery).runIf(env, s.deferred, func(row []value.Datum) (bool, error) {
		put(row)
		if ok, err := expr.AllHold(s.conds, env); err != nil || !ok || wanted == nil {
			return ok, err
		}
		return wanted()
	}, give)
}

// depends reports whether a condition must wait for the deferred columns: it mentions them, or may
// be evaluated only once for a row.
func (s *queryScan) depends(cond expr.Expr) bool {
	found := false
	expr.Walk(cond, func(e expr.Expr) bool {
		switch n := e.(type) {
		case *slotRef:
			found = found || n.up == 0 && s.defers(n.slot)
		case *wholeRow:
			found = found || n.up == 0 && slices.ContainsFunc(n.slots, s.defers)
		case *sublink:
			found = true
		case expr.Dependent:
			found = found || n.Volatility() == expr.Volatile
		}
		return !found
	})
	return found
}
