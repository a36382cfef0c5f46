package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// compiler returns a compiler for expressions of the level.
func (l *level) compiler() *expr.Compiler {
	return &expr.Compiler{
		Text: l.p.Text, Params: l.p.Params, Settings: l.p.Env.Settings, Library: builtin.Library,
		Known: l.isKnown, Column: l.column, Star: l.star, Functions: l.p.functions, Schema: l.p.Schemas.Has, Type: l.p.typ,
		Sublink: l.sublink, Aggregate: l.aggregate, RowSet: l.rowSet,
	}
}

// compile compiles an expression of a clause. A constant of unknown type stays unknown.
func (l *level) compile(n *pg.Node, c clause) (expr.Expr, error) {
	return l.in(c, func(x *expr.Compiler) (expr.Expr, error) { return x.Compile(n) })
}

// compileText is compile with unknown types resolved to text.
func (l *level) compileText(n *pg.Node, c clause) (expr.Expr, error) {
	return l.compileRows(n, c, nil)
}

// compileRows is compileText for a call whose column definition list defines row; nil: there is
// none.
func (l *level) compileRows(n *pg.Node, c clause, row *value.Type) (expr.Expr, error) {
	return l.in(c, func(x *expr.Compiler) (expr.Expr, error) {
		e, err := x.CompileRows(n, row)
		if err != nil {
			return nil, err
		}
		return x.ResolveUnknown(e)
	})
}

// in calls f with the rules of a clause, then checks the columns that were referenced.
func (l *level) in(c clause, f func(*expr.Compiler) (expr.Expr, error)) (expr.Expr, error) {
	old := l.clause
	l.clause, l.refs = c, l.refs[:0]
	defer func() { l.clause = old }()
	e, err := f(l.compiler())
	if l.failed != nil {
		err, l.failed = l.failed, nil
	}
	if err != nil {
		return nil, err
	}
	if c.aggregates {
		l.mentioned = append(l.mentioned, l.refs...)
	}
	return e, nil
}

// condition compiles a Boolean expression.
func (l *level) condition(n *pg.Node, c clause) (expr.Expr, error) {
	return l.in(c, func(x *expr.Compiler) (expr.Expr, error) { return x.CompileBool(n, c.name) })
}

// isKnown is the Known hook of the compiler. It returns the slot of a grouping expression, which is
// not computed again.
func (l *level) isKnown(n *pg.Node) expr.Expr {
	if call := n.GetFuncCall(); call != nil {
		if call.Over != nil {
			e, err := l.windowCall(call)
			if err != nil {
				l.failed = err
				return expr.NewConst(value.Unknown, nil)
			}
			return e
		}
		if l.starts == nil {
			l.starts = map[*pg.FuncCall]int{}
		}
		l.starts[call] = len(l.refs)
	}
	if len(l.keys) == 0 {
		return nil
	}
	if ref := l.keys[tree.Text(n)]; ref != nil {
		return ref
	}
	return nil
}

// checkGrouped returns an error for a reference to a column that is not constant within a group.
func (l *level) checkGrouped() error {
	for _, r := range l.mentioned {
		if !l.columns[r.slot] && r.name != aggregateName {
			return l.error(pgerror.GroupingError, r.location,
				`column "%s" must appear in the GROUP BY clause or be used in an aggregate function`, l.fullName(r.slot, r.name))
		}
	}
	return nil
}

func (l *level) fullName(slot int, name string) string {
	for _, ns := range l.visible {
		for _, it := range ns.items {
			if slices.ContainsFunc(it.cols, func(c *column) bool { return c.slot == slot }) {
				return it.alias + "." + name
			}
		}
	}
	return name
}
