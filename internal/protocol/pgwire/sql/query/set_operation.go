package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// setQuery is UNION, INTERSECT or EXCEPT.
type setQuery struct {
	op          pg.SetOperation
	all         bool
	left, right pending
	cols        []value.Field
	frame       *frame
}

var setNames = map[pg.SetOperation]string{
	pg.SetOperation_SETOP_UNION: "UNION", pg.SetOperation_SETOP_INTERSECT: "INTERSECT", pg.SetOperation_SETOP_EXCEPT: "EXCEPT",
}

func (l *level) setOperation(n *pg.SelectStmt) (pending, error) {
	q := &setQuery{op: n.Op, all: n.All, frame: l.frame}
	var err error
	if q.left, err = l.p.pendingQuery(n.Larg, l); err != nil {
		return nil, err
	}
	if q.right, err = l.p.pendingQuery(n.Rarg, l); err != nil {
		return nil, err
	}
	left, right := q.left.columns(), q.right.columns()
	if len(left) != len(right) {
		return nil, l.error(pgerror.SyntaxError, firstTarget(n.Rarg), "each %s query must have the same number of columns", setNames[n.Op])
	}
	for i := range left {
		if err := q.match(l, i, n); err != nil {
			return nil, err
		}
	}
	return l.arrange(q, n)
}

func firstTarget(n *pg.SelectStmt) int32 {
	for n.Larg != nil {
		n = n.Larg
	}
	if len(n.TargetList) > 0 {
		return expr.Location(n.TargetList[0].GetResTarget().GetVal())
	}
	return -1
}

// match converts column i of both sides to a common type.
func (q *setQuery) match(l *level, i int, n *pg.SelectStmt) error {
	left, right := q.left.columns()[i], q.right.columns()[i]
	field := value.Field{Name: left.Name, Type: left.Type}
	if left.Mod == right.Mod {
		field.Mod = left.Mod
	}
	if left.Type != right.Type {
		_, t, err := l.compiler().CommonType(setNames[q.op], []expr.Expr{standIn(i, left.Type), standIn(i, right.Type)},
			[]int32{-1, firstTarget(n.Rarg)})
		if err != nil {
			return err
		}
		for _, side := range []pending{q.left, q.right} {
			if side.columns()[i].Type != t {
				if err := side.convert(i, t); err != nil {
					return err
				}
			}
		}
		field.Type, field.Mod = t, 0
	}
	q.cols = append(q.cols, field)
	return nil
}

// standIn returns an expression of a type, for choosing the common type.
func standIn(slot int, t *value.Type) expr.Expr {
	if t == value.Unknown {
		return expr.NewConst(t, nil)
	}
	return &slotRef{slot: slot, typ: t}
}

func (q *setQuery) columns() []value.Field { return q.cols }

func (q *setQuery) convert(i int, t *value.Type) error {
	for _, side := range []pending{q.left, q.right} {
		if err := side.convert(i, t); err != nil {
			return err
		}
	}
	q.cols[i].Type, q.cols[i].Mod = t, 0
	return nil
}

func (q *setQuery) run(env *expr.Env, emit func([]value.Datum) error) error {
	_, around, inside := q.frame.push(env)
	defer func() { env.Rows = around }()
	env.Rows = inside
	out := func(row []value.Datum) error {
		env.Rows = around
		err := emit(row)
		env.Rows = inside
		return err
	}
	if q.op == pg.SetOperation_SETOP_UNION {
		if !q.all {
			out = exec.Distinct(q.cols, out)
		}
		if err := q.left.run(env, out); err != nil {
			return err
		}
		return q.right.run(env, out)
	}
	counts := map[string]int{}
	var heap expr.Heap
	var key []byte
	err := q.right.run(env, func(row []value.Datum) error {
		key = exec.AppendRow(key[:0], q.cols, row)
		if counts[string(key)]++; counts[string(key)] > 1 {
			return nil
		}
		return heap.KeepText(len(key))
	})
	if err != nil {
		return err
	}
	given := exec.NewSeen(&heap)
	return q.left.run(env, func(row []value.Datum) error {
		key = exec.AppendRow(key[:0], q.cols, row)
		there := counts[string(key)] > 0
		if q.all && there {
			counts[string(key)]--
		}
		if there != (q.op == pg.SetOperation_SETOP_INTERSECT) {
			return nil
		}
		if !q.all {
			if again, err := given.Again(key); again || err != nil {
				return err
			}
		}
		return out(row)
	})
}
