package expr

import "fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"

// Promise is the value of a call that is known once the transaction is committed.
type Promise func() value.Datum

// Later returns e as it is in a statement whose rows are shown after the commit: its value is a
// Promise. ok tells that e is a call of a function that has a Later.
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
