package expr

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Const is a constant.
type Const struct {
	T     *value.Type
	Value value.Datum
	Mod   int32 // typmod, -1 none

	at int32 // position in the statement, for a constant of unknown type
}

// NewConst returns a constant.
func NewConst(t *value.Type, v value.Datum) *Const { return &Const{T: t, Value: v, Mod: -1, at: -1} }

// Type implements Expr.
func (c *Const) Type() *value.Type { return c.T }

// Eval implements Expr.
func (c *Const) Eval(*Env) (value.Datum, error) { return c.Value, nil }

// Param is the parameter $N.
type Param struct {
	T *value.Type
	N int // counted from 0

	at int32
}

// Type implements Expr.
func (p *Param) Type() *value.Type { return p.T }

// Eval implements Expr.
func (p *Param) Eval(env *Env) (value.Datum, error) {
	if p.N >= len(env.Params) {
		return nil, pgerror.New(pgerror.UndefinedParameter, "no value found for parameter %d", p.N+1)
	}
	return env.Params[p.N], nil
}

// Parent is an expression with subexpressions. Expressions of other packages that have
// subexpressions should implement it, so that Walk visits them.
type Parent interface{ Children() []Expr }

// Dependent is an expression whose value may depend on more than its subexpressions.
type Dependent interface{ Volatility() Volatility }

// modified is an expression with a typmod.
type modified interface{ Typmod() int32 }

// Typmod implements modified.
func (c *Const) Typmod() int32 { return c.Mod }

// Typmod returns the typmod of an expression, or -1 if it has none.
func Typmod(e Expr) int32 {
	if m, ok := e.(modified); ok {
		return m.Typmod()
	}
	return -1
}

// Children returns the subexpressions of e.
func Children(e Expr) []Expr {
	if p, ok := e.(Parent); ok {
		return p.Children()
	}
	return nil
}

// Walk calls f for e and its subexpressions, in pre-order. f reports whether to visit the
// subexpressions of its argument.
func Walk(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	for _, child := range Children(e) {
		Walk(child, f)
	}
}

// VolatilityOf returns the volatility of an expression: the highest of its parts. Columns and
// parameters count as immutable.
func VolatilityOf(e Expr) Volatility {
	most := Immutable
	Walk(e, func(e Expr) bool {
		if d, ok := e.(Dependent); ok {
			most = moreVolatile(most, d.Volatility())
		}
		return most != Volatile
	})
	return most
}

func moreVolatile(a, b Volatility) Volatility {
	if a == Volatile || b == Volatile {
		return Volatile
	}
	if a == Stable || b == Stable {
		return Stable
	}
	return Immutable
}

// IsConst reports whether e is a constant, and returns its value.
func IsConst(e Expr) (value.Datum, bool) {
	if c, ok := e.(*Const); ok {
		return c.Value, true
	}
	return nil, false
}

// settings returns the settings of the session.
func (env *Env) settings() *value.Settings {
	return &env.Settings
}
