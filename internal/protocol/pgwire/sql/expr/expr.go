package expr

import (
	"context"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Expr is a compiled expression. It is not changed by evaluating, and may be evaluated by several
// goroutines with an Env each.
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
	Implied  bool                 // Path begins with pg_catalog though it was not named
	Notice   func(*pgerror.Error) // never nil
	// Session is whatever the functions of a schema need to know of the session; the expressions do
	// not look at it.
	Session any
	// Ends is what must be done when the statement is over, or its portal closed; nil: not
	// supported.
	Ends     *Ends
	stack    []value.Datum // arguments of the calls being evaluated
	operands []value.Datum // of the CASEs being evaluated
}

// Ends gathers what is to be done at the end of a statement.
type Ends struct{ all []func() }

// Add adds something.
func (e *Ends) Add(f func()) { e.all = append(e.all, f) }

// Run does what has gathered, once.
func (e *Ends) Run() {
	for _, f := range e.all {
		f()
	}
	e.all = nil
}

// Apart is env for what is evaluated in turns with it.
func (e *Env) Apart() *Env {
	made := *e
	made.stack, made.operands = nil, nil
	return &made
}

// CurrentSchema is the first schema of the search path as it was set; nil: it is empty.
func (env *Env) CurrentSchema() value.Datum {
	named := env.NamedPath()
	if len(named) == 0 {
		return nil
	}
	return named[0]
}

// NamedPath is the search path as it was set.
func (env *Env) NamedPath() []string {
	if env.Implied {
		return env.Path[1:]
	}
	return env.Path
}
