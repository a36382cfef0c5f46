// Package expr is SQL expressions: compiled from the parser's tree into nodes with a type each, then evaluated any number of times. Types
// are found, functions and operators chosen, and constants converted when compiling, by PostgreSQL's rules.
package expr

import (
	"context"

	"fiveways/internal/protocol/pgwire/pgerror"
	"fiveways/internal/protocol/pgwire/sql/value"
)

// Expr is a compiled expression. It is not changed by evaluating, and may be evaluated by several goroutines with an Env each.
type Expr interface {
	Type() *value.Type
	Eval(env *Env) (value.Datum, error)
}

// Env is what the value of an expression depends on beside the expression.
type Env struct {
	Ctx      context.Context // ended by a cancel request or by the timeout of the statement; what waits must look at it; never nil
	Settings value.Settings
	Now      value.TimestampTZ        // now(): when the transaction began
	Stmt     value.TimestampTZ        // statement_timestamp()
	Clock    func() value.TimestampTZ // clock_timestamp()
	Params   []value.Datum            // $1 is Params[0]
	Rows     [][]value.Datum          // Rows[0] is the row at hand, Rows[1] that of the statement around a sub-select, ...
	User     string
	Database string
	Path     []string             // search_path: the schemas that exist
	Implied  bool                 // Path begins with pg_catalog though nobody named it
	Notice   func(*pgerror.Error) // never nil
	// Session is whatever the functions of a schema need to know of the session; the expressions do not look at it.
	Session  any
	stack    []value.Datum // arguments of the calls being evaluated
	operands []value.Datum // of the CASEs being evaluated
}
