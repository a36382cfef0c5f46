package expr

import "fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"

// doomed is a constant expression whose evaluation fails. PostgreSQL evaluates such expressions
// during planning. Like there, the enclosing expression fails too, unless its value was decided
// without this part.
type doomed struct {
	t   *value.Type
	err error
}

// Type implements Expr.
func (d *doomed) Type() *value.Type { return d.t }

// Eval implements Expr.
func (d *doomed) Eval(*Env) (value.Datum, error) { return nil, d.err }

// Doomed returns the error of an expression in which constants fail; nil: there are none.
func Doomed(e Expr) (err error) {
	Walk(e, func(e Expr) bool {
		if d, ok := e.(*doomed); ok {
			err = d.err
		}
		return err == nil
	})
	return err
}

// fold evaluates what depends on nothing.
func (c *Compiler) fold(e Expr) Expr {
	known := true
	for _, child := range Children(e) {
		if d := doomedIn(child); d != nil {
			return &doomed{e.Type(), d.err}
		}
		known = known && isKnown(child)
	}
	if !known {
		return e
	}
	if d, ok := e.(Dependent); ok && d.Volatility() != Immutable {
		return e
	}
	d, err := e.Eval(&Env{Settings: c.Settings})
	if err != nil {
		return &doomed{e.Type(), err}
	}
	return &Const{T: e.Type(), Value: d, Mod: Typmod(e), at: -1}
}

// isKnown reports whether e is a constant, or a row of constants.
func isKnown(e Expr) bool {
	r, ok := e.(*row)
	if !ok {
		return isConst(e)
	}
	for _, f := range r.fields {
		if !isKnown(f) {
			return false
		}
	}
	return true
}

// doomedIn returns the failing part of e. It searches the fields of a row, because a row remains a
// row node so that its fields can be extracted.
func doomedIn(e Expr) *doomed {
	if r, ok := e.(*row); ok {
		for _, f := range r.fields {
			if d := doomedIn(f); d != nil {
				return d
			}
		}
	}
	d, _ := e.(*doomed)
	return d
}

// foldCall folds a call. A strict call with an argument that is known to be NULL becomes NULL, even
// if the function is volatile: it would never be called.
func (c *Compiler) foldCall(call *call) Expr {
	if call.strict {
		return c.foldStrict(call)
	}
	return c.fold(call)
}

// foldStrict is fold for an expression that is NULL if any argument is NULL.
func (c *Compiler) foldStrict(e Expr) Expr {
	null := false
	for _, child := range Children(e) {
		if d := doomedIn(child); d != nil {
			return &doomed{e.Type(), d.err}
		}
		d, ok := IsConst(child)
		null = null || ok && d == nil
	}
	if null {
		return &Const{T: e.Type(), Mod: Typmod(e), at: -1}
	}
	return c.fold(e)
}

// foldLogic drops constants that do not decide the result, and everything after one that does.
func (c *Compiler) foldLogic(or bool, args []Expr) Expr {
	var kept []Expr
	for _, a := range args {
		if d, ok := a.(*doomed); ok {
			return d
		}
		d, known := IsConst(a)
		if known && d == or {
			return a
		}
		if !known || d == nil {
			kept = append(kept, a)
		}
	}
	if len(kept) == 0 {
		return NewConst(value.Bool, !or)
	}
	return c.fold(newLogic(or, kept))
}

// foldCase drops branches that are never taken.
func (c *Compiler) foldCase(n *caseNode) Expr {
	made := &caseNode{t: n.t, operand: n.operand, defaultExpr: n.defaultExpr}
	fail := func(e Expr) Expr { return &doomed{n.t, e.(*doomed).err} }
	if n.operand != nil && isDoomed(n.operand) {
		return fail(n.operand)
	}
	for i, condition := range n.conditions {
		if isDoomed(condition) {
			return fail(condition)
		}
		d, known := IsConst(condition)
		if known && d != true {
			continue
		}
		if known {
			made.defaultExpr = n.results[i]
			break
		}
		if isDoomed(n.results[i]) {
			return fail(n.results[i])
		}
		made.conditions, made.results = append(made.conditions, condition), append(made.results, n.results[i])
	}
	if isDoomed(made.defaultExpr) {
		return fail(made.defaultExpr)
	}
	if len(made.conditions) == 0 {
		return made.defaultExpr
	}
	return made
}

func isDoomed(e Expr) bool {
	_, ok := e.(*doomed)
	return ok
}

// foldCoalesce drops NULLs, and everything after a constant.
func (c *Compiler) foldCoalesce(n *coalesce) Expr {
	made := &coalesce{t: n.t}
	for _, a := range n.args {
		d, known := IsConst(a)
		if known && d == nil {
			continue
		}
		if isDoomed(a) {
			return a
		}
		made.args = append(made.args, a)
		if known {
			break
		}
	}
	switch len(made.args) {
	case 0:
		return &Const{T: n.t, Mod: -1, at: -1}
	case 1:
		return made.args[0]
	}
	return made
}
