package expr

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Compiler compiles the expressions of one statement. If a hook is nil, the construct it handles
// results in the error that PostgreSQL returns where the construct is not allowed.
type Compiler struct {
	Text     string         // the text of the statement, for positions
	Params   *Params        // nil: parameters are not allowed
	Settings value.Settings // for parsing constants
	Library  *Library       // the built-in functions and operators; never nil

	// Known is called first for every node, including nested ones. A non-nil result is used instead
	// of compiling the node.
	Known func(n *pg.Node) Expr
	// Column resolves a column from its parts (table, column; or column; or schema, table, column).
	// It is not called for "*".
	Column func(parts []string, location int32) (Expr, error)
	// Star finds the columns of * or t.*, which may stand in ROW.
	Star func(ref *pg.ColumnRef) ([]Expr, error)
	// Functions are those of the schemas beside pg_catalog, by name; schema is "" when the
	// statement names none.
	Functions func(schema, name string) []*Function
	// Schema reports whether a schema exists; nil: any schema is accepted.
	Schema func(name string) bool
	// Type returns a type that is not built in, or nil if there is none.
	Type func(schema, name string) *value.Type
	// Sublink compiles a subquery in an expression.
	Sublink func(link *pg.SubLink) (Expr, error)
	// Aggregate extracts an aggregate call from the expression, for the statement to compute, and
	// returns a placeholder for its result. fn is specific to the argument types of this call; its
	// Returns is the result type.
	Aggregate func(call *pg.FuncCall, fn *Function, args []Expr) (Expr, error)
	// RowSet extracts a set-returning call from a select list and returns a placeholder for its
	// value in each row. fn is specific to this call. args are all of its arguments, converted and
	// with defaults. If a Strict function has a NULL argument, it returns no rows.
	RowSet func(call *pg.FuncCall, fn *Function, args []Expr) (Expr, error)

	rows  *value.Type // see CompileRows
	depth int         // nesting depth, limited to prevent a stack overflow
}

// Params are the parameters $1, $2, ... of a statement. A nil entry is a type that is not known
// yet; compilation fills it in.
type Params struct{ Types []*value.Type }

// maxDepth limits the nesting of expressions.
const maxDepth = 2000

// CompileRows compiles a call in FROM. If the function returns record, the type of its rows is row,
// that of the column definition list; nil: there is none.
func (c *Compiler) CompileRows(n *pg.Node, row *value.Type) (Expr, error) {
	if n.GetFuncCall() != nil {
		c.rows = row
	}
	return c.Compile(n)
}

// Compile compiles an expression. Untyped constants keep the type "unknown" until the context gives
// them one. Use CompileAs to assign a type, or ResolveUnknown in a select list.
func (c *Compiler) Compile(n *pg.Node) (Expr, error) {
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > maxDepth {
		return nil, pgerror.New("54001", "stack depth limit exceeded")
	}
	if c.Known != nil {
		if e := c.Known(n); e != nil {
			return e, nil
		}
	}
	switch n := n.GetNode().(type) {
	case *pg.Node_AConst:
		return c.constant(n.AConst)
	case *pg.Node_ParamRef:
		return c.param(n.ParamRef)
	case *pg.Node_ColumnRef:
		return c.column(n.ColumnRef)
	case *pg.Node_TypeCast:
		return c.typeCast(n.TypeCast)
	case *pg.Node_AExpr:
		return c.operation(n.AExpr)
	case *pg.Node_BoolExpr:
		return c.boolean(n.BoolExpr)
	case *pg.Node_NullTest:
		return c.nullTest(n.NullTest)
	case *pg.Node_BooleanTest:
		return c.booleanTest(n.BooleanTest)
	case *pg.Node_CaseExpr:
		return c.caseExpr(n.CaseExpr)
	case *pg.Node_CoalesceExpr:
		return c.coalesce(n.CoalesceExpr)
	case *pg.Node_MinMaxExpr:
		return c.minMax(n.MinMaxExpr)
	case *pg.Node_FuncCall:
		return c.call(n.FuncCall)
	case *pg.Node_AArrayExpr:
		return c.array(n.AArrayExpr, nil)
	case *pg.Node_AIndirection:
		return c.indirection(n.AIndirection)
	case *pg.Node_RowExpr:
		return c.row(n.RowExpr)
	case *pg.Node_SqlvalueFunction:
		return c.sqlValue(n.SqlvalueFunction)
	case *pg.Node_CollateClause:
		return c.collate(n.CollateClause)
	case *pg.Node_SubLink:
		if c.Sublink == nil {
			return nil, c.refuse("cannot use subquery here", n.SubLink.Location)
		}
		return c.Sublink(n.SubLink)
	case *pg.Node_SetToDefault:
		return nil, pgerror.New(pgerror.SyntaxError, "DEFAULT is not allowed in this context").At(c.Text, n.SetToDefault.Location)
	case *pg.Node_NamedArgExpr:
		return nil, pgerror.New(pgerror.SyntaxError, "named arguments are not allowed here").At(c.Text, n.NamedArgExpr.Location)
	}
	return nil, c.refuse("%s is not supported", locationOf(n), nameOf(n))
}

func (c *Compiler) refuse(format string, location int32, args ...any) error {
	return pgerror.New(pgerror.FeatureNotSupported, format, args...).At(c.Text, location)
}

// CompileAs compiles an expression and converts it to the type t like an assignment to a column.
// mod is the column's typmod, -1 for none. name is the column's name, for the error.
func (c *Compiler) CompileAs(n *pg.Node, t *value.Type, mod int32, name string) (Expr, error) {
	e, err := c.Compile(n)
	if err != nil {
		return nil, err
	}
	return c.Assign(e, t, mod, name, locationOf(n))
}

// Assign converts a compiled expression to the type t of a column.
func (c *Compiler) Assign(e Expr, t *value.Type, mod int32, name string, location int32) (Expr, error) {
	made, err := c.coerceTo(e, t, mod, assignment)
	if err != nil {
		return nil, err
	}
	if made == nil {
		return nil, pgerror.New(pgerror.DatatypeMismatch, "column \"%s\" is of type %s but expression is of type %s", name, t, e.Type()).
			WithHint("You will need to rewrite or cast the expression.").At(c.Text, location)
	}
	return made, nil
}

// CompileBool compiles a condition. clause names its context for the error, for example "WHERE".
func (c *Compiler) CompileBool(n *pg.Node, clause string) (Expr, error) {
	e, err := c.Compile(n)
	if err != nil {
		return nil, err
	}
	return c.toBool(e, clause, locationOf(n))
}

func (c *Compiler) toBool(e Expr, clause string, location int32) (Expr, error) {
	return c.toType(e, value.Bool, clause, location)
}

// toType converts an expression that must have the type t in a clause.
func (c *Compiler) toType(e Expr, t *value.Type, clause string, location int32) (Expr, error) {
	made, err := c.coerceTo(e, t, -1, assignment)
	if err != nil {
		return nil, err
	}
	if made == nil {
		return nil, pgerror.New(pgerror.DatatypeMismatch, "argument of %s must be type %s, not type %s", clause, t, e.Type()).
			At(c.Text, location)
	}
	return made, nil
}

// CompileInt8 compiles the argument of LIMIT and similar clauses.
func (c *Compiler) CompileInt8(n *pg.Node, clause string) (Expr, error) {
	e, err := c.Compile(n)
	if err != nil {
		return nil, err
	}
	return c.toType(e, value.Int8, clause, locationOf(n))
}

// ResolveUnknown converts a constant or parameter of unknown type to text.
func (c *Compiler) ResolveUnknown(e Expr) (Expr, error) {
	if e.Type() != value.Unknown {
		return e, nil
	}
	return c.coerce(e, value.Text, implicit)
}

// CommonType returns the common type of the expressions of a column in the construct that name
// describes (UNION, VALUES, ...), and converts the expressions to it. locations are the positions
// of the expressions.
func (c *Compiler) CommonType(name string, all []Expr, locations []int32) ([]Expr, *value.Type, error) {
	t, err := c.commonType(name, all, locations)
	if err != nil {
		return nil, nil, err
	}
	made, err := c.toCommon(name, all, t, locations)
	return made, t, err
}

// Operate compiles an operator applied to compiled expressions.
func (c *Compiler) Operate(name string, left, right Expr, location int32) (Expr, error) {
	return c.operator(name, left, right, location)
}
