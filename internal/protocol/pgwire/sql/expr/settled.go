package expr

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Settled returns the value of an expression that constants and parameters alone decide, without a
// look at any row and without a call whose result may differ. PostgreSQL, which plans with the
// parameters at hand, folds the same.
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
	d, err := e.Eval(env) // what fails is left to the rows: it may never be asked for
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

// hasNull tells of an argument that is NULL for sure.
func (c *call) hasNull(env *Env) bool {
	for _, a := range c.args {
		if d, known := Settled(a, env); known && d == nil {
			return true
		}
	}
	return false
}
