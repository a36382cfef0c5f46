package expr

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways/internal/protocol/pgwire/pgerror"
	"fiveways/internal/protocol/pgwire/sql/value"
)

// Compiler compiles the expressions of one statement. What a nil hook would be asked for is refused with the error PostgreSQL gives where
// such a thing may not stand.
type Compiler struct {
	Text     string         // of the statement, for positions
	Params   *Params        // nil: there are no parameters
	Settings value.Settings // constants are read with them

	// Known is asked first for every node, the inner ones too; what it returns is taken instead of compiling. nil: compile it.
	Known func(n *pg.Node) Expr
	// Column finds a column by its parts (table, column; or column; or schema, table, column). A part "*" is not asked for.
	Column func(parts []string, location int32) (Expr, error)
	// Functions are those of the schemas beside pg_catalog, by name; schema is "" when the statement names none.
	Functions func(schema, name string) []*Function
	// Type finds a type that is not built in; nil, nil: there is none.
	Type func(schema, name string) *value.Type
	// Sublink compiles a sub-select in an expression.
	Sublink func(link *pg.SubLink) (Expr, error)
	// Aggregate takes an aggregate call out of the expression, to be added up by the statement, and returns what stands for its result.
	Aggregate func(call *pg.FuncCall, fn *Function, args []Expr) (Expr, error)
	// RowSet takes a set-returning call out of a select list and returns what stands for its value in each row.
	RowSet func(call *pg.FuncCall, fn *Function, args []Expr) (Expr, error)
}

// Params are the parameters $1, $2, ... of a statement. A nil entry is a type that is not known yet; compiling fills it in.
type Params struct{ Types []*value.Type }

// Compile compiles an expression. Constants of no type stay "unknown" until their surroundings give them one; use CompileAs, or
// ResolveUnknown for a select list.
func (c *Compiler) Compile(n *pg.Node) (Expr, error) {
	return nil, pgerror.New(pgerror.FeatureNotSupported, "expression is not supported")
}
