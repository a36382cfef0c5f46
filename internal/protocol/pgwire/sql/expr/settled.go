package expr

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Settled returns the value of an expression if constants and parameters alone determine it,
// without reading a row and without calling a function whose result may vary. PostgreSQL folds the
// same expressions when it plans with known parameters.
func Settled(e Expr, env *Env) (d value.Datum, known bool) {
	switch n := e.(type) {
	case *Const:
		return n.Value, true
	case *logic:
		return n.settled(env)
	case *not:
		if d, known = Settled(n.arg, env); known && d != nil {
			d = !d.(bool)
		}
		return d, known
	case *coalesce:
		for _, a := range n.args {
			if d, known = Settled(a, env); !known || d != nil {
				return d, known
			}
		}
		return nil, true
	case *caseNode:
		if n.operand == nil {
			return n.settled(env)
		}
	case *call:
		if n.strict && n.hasNull(env) {
			return nil, true
		}
	}
	if VolatilityOf(e) != Immutable {
		return nil, false
	}
	d, err := e.Eval(env) // an error is left to the evaluation for a row, which may never happen
	return d, err == nil
}

func (l *logic) settled(env *Env) (value.Datum, bool) {
	all, null := true, false
	for _, a := range l.args {
		d, known := Settled(a, env)
		if known && d == l.or {
			return d, true
		}
		all, null = all && known, null || d == nil
	}
	if null {
		return nil, all
	}
	return !l.or, all
}

func (n *caseNode) settled(env *Env) (value.Datum, bool) {
	for i, condition := range n.conditions {
		d, known := Settled(condition, env)
		switch {
		case !known:
			return nil, false
		case d == true:
			return Settled(n.results[i], env)
		}
	}
	return Settled(n.defaultExpr, env)
}

// hasNull reports whether an argument is known to be NULL.
func (c *call) hasNull(env *Env) bool {
	for _, a := range c.args {
		if d, known := Settled(a, env); known && d == nil {
			return true
		}
	}
	return false
}
