package expr

import "fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"

// newCall returns the expression that calls run.
func newCall(run CallFunc, args []Expr, returns *value.Type, strict bool, v Volatility) *call {
	return &call{run: run, args: args, t: returns, strict: strict, volatility: v}
}

// call is a call of a function or an operator.
type call struct {
	run        CallFunc
	args       []Expr
	t          *value.Type
	strict     bool
	volatility Volatility
	later      func(env *Env, args []value.Datum) (Promise, error) // see Later
}

// Type implements Expr.
func (c *call) Type() *value.Type { return c.t }

// Children implements Parent.
func (c *call) Children() []Expr { return c.args }

// Volatility implements Dependent.
func (c *call) Volatility() Volatility { return c.volatility }

// Eval implements Expr. The arguments are on the Env's stack to avoid allocations. Functions must
// not keep them.
func (c *call) Eval(env *Env) (value.Datum, error) {
	base, null := len(env.stack), false
	for _, a := range c.args {
		d, err := a.Eval(env)
		if err != nil {
			env.stack = env.stack[:base]
			return nil, err
		}
		null = null || d == nil
		env.stack = append(env.stack, d)
	}
	if null && c.strict { // only now: an argument that fails does so even if another one is NULL
		env.stack = env.stack[:base]
		return nil, nil
	}
	args := env.stack[base:len(env.stack):len(env.stack)]
	d, err := c.run(env, args)
	clear(args)
	env.stack = env.stack[:base]
	return d, err
}

// EvalArgs evaluates arguments into a new slice. null reports whether any of them is NULL.
func EvalArgs(env *Env, args []Expr) (all []value.Datum, null bool, err error) {
	all = make([]value.Datum, len(args))
	for i, a := range args {
		if all[i], err = a.Eval(env); err != nil {
			return nil, false, err
		}
		null = null || all[i] == nil
	}
	return all, null, nil
}
