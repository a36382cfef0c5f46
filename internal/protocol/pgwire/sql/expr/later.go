package expr

import "fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"

// Promise returns the value of a call after the transaction has been committed.
type Promise func() value.Datum

// Later returns the variant of e for a statement whose rows are sent after the commit; its value is
// a Promise. ok reports whether e is a call of a function that has Later set.
func Later(e Expr) (later Expr, ok bool) {
	c, ok := e.(*call)
	if !ok || c.later == nil {
		return nil, false
	}
	made := *c
	made.run = func(env *Env, args []value.Datum) (value.Datum, error) {
		promise, err := c.later(env, args)
		return promise, err
	}
	return &made, true
}
