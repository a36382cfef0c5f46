package expr

import (
	"context"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Expr is a compiled expression. Evaluation does not change it, so several goroutines may evaluate
// it, each with its own Env.
type Expr interface {
	Type() *value.Type
	Eval(env *Env) (value.Datum, error)
}

// Env is the environment in which an expression is evaluated.
type Env struct {
	Ctx      context.Context // canceled by a cancel request or the statement timeout; functions that wait must observe it; never nil
	Settings value.Settings
	Now      temporal.TimestampTZ        // now(): the start of the transaction
	Stmt     temporal.TimestampTZ        // statement_timestamp()
	Clock    func() temporal.TimestampTZ // clock_timestamp()
	Params   []value.Datum               // $1 is Params[0]
	Rows     [][]value.Datum             // Rows[0] is the current row, Rows[1] that of the enclosing statement of a subquery, ...
	User     string
	Database string
	Path     []string             // search_path: the schemas that exist
	Implied  bool                 // Path begins with an implicit pg_catalog
	Notice   func(*pgerror.Error) // never nil
	// Session is for the functions of a schema; expressions do not use it.
	Session any
	// Ends collects functions to call when the statement ends or its portal is closed; nil: not
	// supported.
	Ends     *Ends
	stack    []value.Datum // arguments of the calls being evaluated
	operands []value.Datum // of the CASEs being evaluated
}

// Ends collects functions to be called at the end of a statement.
type Ends struct{ all []func() }

// Add adds a function.
func (e *Ends) Add(f func()) { e.all = append(e.all, f) }

// Run calls the collected functions once.
func (e *Ends) Run() {
	for _, f := range e.all {
		f()
	}
	e.all = nil
}

// Apart returns a copy of e for an evaluation that is interleaved with others in e.
func (e *Env) Apart() *Env {
	made := *e
	made.stack, made.operands = nil, nil
	return &made
}

// CurrentSchema returns the first schema of the explicit search path, or nil if the path is empty.
func (env *Env) CurrentSchema() value.Datum {
	named := env.NamedPath()
	if len(named) == 0 {
		return nil
	}
	return named[0]
}

// NamedPath returns the explicit search path.
func (env *Env) NamedPath() []string {
	if env.Implied {
		return env.Path[1:]
	}
	return env.Path
}
