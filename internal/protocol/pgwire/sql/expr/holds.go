package expr

// Holds reports whether a condition is true. NULL is not true.
func Holds(e Expr, env *Env) (bool, error) {
	d, err := e.Eval(env)
	if err != nil {
		return false, err
	}
	b, _ := d.(bool)
	return b, nil
}

// AllHold reports whether all conditions are true.
func AllHold(conds []Expr, env *Env) (bool, error) {
	for _, cond := range conds {
		if ok, err := Holds(cond, env); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}
