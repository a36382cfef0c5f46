package query

import (
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// valuesQuery is VALUES (...), (...).
type valuesQuery struct {
	l     *level
	cols  []value.Field
	lists [][]expr.Expr
}

func (l *level) values(n *pg.SelectStmt) (pending, error) {
	q := &valuesQuery{l: l}
	places := [][]int32{}
	for _, list := range n.ValuesLists {
		items := list.GetList().GetItems()
		var row []expr.Expr
		var at []int32
		for _, item := range items {
			e, err := l.compile(item, clause{name: "VALUES"})
			if err != nil {
				return nil, err
			}
			row, at = append(row, e), append(at, expr.Location(item))
		}
		if len(q.lists) > 0 && len(row) != len(q.lists[0]) {
			return nil, l.error(pgerror.SyntaxError, expr.Location(items[0]), "VALUES lists must all be the same length")
		}
		q.lists, places = append(q.lists, row), append(places, at)
	}
	for i := range q.lists[0] {
		t, err := q.commonType(i, places)
		if err != nil {
			return nil, err
		}
		mod := expr.Typmod(q.lists[0][i])
		if slices.ContainsFunc(q.lists, func(list []expr.Expr) bool { return expr.Typmod(list[i]) != mod }) {
			mod = -1
		}
		q.cols = append(q.cols, value.Field{Name: fmt.Sprintf("column%d", i+1), Type: t, Mod: mod + 1})
	}
	return l.arrange(q, n)
}

// commonType converts a column to the common type of its values. It stays unknown if all values
// are.
func (q *valuesQuery) commonType(i int, places [][]int32) (*value.Type, error) {
	var column []expr.Expr
	var at []int32
	unknown := true
	for r, list := range q.lists {
		column, at = append(column, list[i]), append(at, places[r][i])
		unknown = unknown && list[i].Type() == value.Unknown
	}
	if unknown {
		return value.Unknown, nil
	}
	made, t, err := q.l.compiler().CommonType("VALUES", column, at)
	if err != nil {
		return nil, err
	}
	for r := range q.lists {
		q.lists[r][i] = made[r]
	}
	return t, nil
}

func (q *valuesQuery) columns() []value.Field { return q.cols }

func (q *valuesQuery) convert(i int, t *value.Type) error {
	for _, list := range q.lists {
		e, err := q.l.compiler().Assign(list[i], t, -1, q.cols[i].Name, -1)
		if err != nil {
			return err
		}
		list[i] = e
	}
	q.cols[i].Type, q.cols[i].Mod = t, 0
	return nil
}

func (q *valuesQuery) run(env *expr.Env, emit func([]value.Datum) error) error {
	_, around, inside := q.l.push(env)
	defer func() { env.Rows = around }()
	row := make([]value.Datum, len(q.cols))
	for _, list := range q.lists {
		env.Rows = inside
		for i, e := range list {
			var err error
			if row[i], err = e.Eval(env); err != nil {
				return err
			}
		}
		env.Rows = around
		if err := emit(row); err != nil {
			return err
		}
	}
	return nil
}
