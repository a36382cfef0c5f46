package expr

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// subscript is x[i], x[i][j] or x[a:b]. For a slice, lower and upper have the bounds; nil stands
// for the bound of the array.
type subscript struct {
	arg          Expr
	t            *value.Type
	slice        bool
	lower, upper []Expr
}

// Type implements Expr.
func (s *subscript) Type() *value.Type { return s.t }

// Children implements Parent.
func (s *subscript) Children() []Expr {
	all := []Expr{s.arg}
	for _, e := range append(append([]Expr{}, s.lower...), s.upper...) {
		if e != nil {
			all = append(all, e)
		}
	}
	return all
}

// Eval implements Expr.
func (s *subscript) Eval(env *Env) (value.Datum, error) {
	d, err := s.arg.Eval(env)
	if d == nil || err != nil {
		return nil, err
	}
	a := d.(*value.Array)
	lower, null, err := bounds(env, s.lower)
	if null || err != nil {
		return nil, err
	}
	upper, null, err := bounds(env, s.upper)
	if null || err != nil {
		return nil, err
	}
	if s.slice {
		return value.SliceArray(a, lower, upper), nil
	}
	return value.ElementAt(a, upper), nil
}

func bounds(env *Env, all []Expr) (found []value.ArrayBound, null bool, err error) {
	for _, e := range all {
		if e == nil {
			found = append(found, value.ArrayBound{})
			continue
		}
		d, err := e.Eval(env)
		if d == nil || err != nil {
			return nil, true, err
		}
		found = append(found, value.ArrayBound{At: int32(d.(int64)), Given: true})
	}
	return found, false, nil
}

// subscript compiles the subscripts after an expression.
func (c *Compiler) subscript(e Expr, indices []*pg.A_Indices, place int32) (Expr, error) {
	t := e.Type()
	if t == value.Hstore {
		return c.hstoreSubscript(e, indices)
	}
	if t == value.Name && len(indices) == 1 && !indices[0].IsSlice {
		index, err := c.index(indices[0].Uidx)
		if err != nil {
			return nil, err
		}
		return c.foldCall(newCall(nameByte, []Expr{e, index}, value.Char, true, Immutable)), nil
	}
	if !t.IsArray() {
		return nil, pgerror.New(pgerror.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", t).
			At(c.Text, place)
	}
	if len(indices) > value.MaxDims {
		return nil, value.TooManyDims(len(indices))
	}
	made := &subscript{arg: e, t: t.Elem}
	for _, i := range indices {
		made.slice = made.slice || i.IsSlice
	}
	if made.slice {
		made.t = t
	}
	for _, i := range indices {
		upper, err := c.index(i.Uidx)
		if err != nil {
			return nil, err
		}
		made.upper = append(made.upper, upper)
		if !made.slice {
			continue
		}
		lower := Expr(nil)
		if i.IsSlice {
			lower, err = c.index(i.Lidx)
		} else {
			lower = NewConst(value.Int4, int64(1))
		}
		if err != nil {
			return nil, err
		}
		made.lower = append(made.lower, lower)
	}
	return made, nil
}

func (c *Compiler) index(n *pg.Node) (Expr, error) {
	if n == nil {
		return nil, nil
	}
	e, err := c.Compile(n)
	if err != nil {
		return nil, err
	}
	made, err := c.coerceTo(e, value.Int4, -1, assignment)
	if err == nil && made == nil {
		err = pgerror.New(pgerror.DatatypeMismatch, "array subscript must have type integer").At(c.Text, locationOf(n))
	}
	return made, err
}

// nameLen is the length of a value of type name, including its zero padding.
const nameLen = 64

// nameByte returns the byte of a name at an index from 0.
func nameByte(_ *Env, a []value.Datum) (value.Datum, error) {
	s, i := a[0].(string), a[1].(int64)
	switch {
	case i < 0 || i >= nameLen:
		return nil, nil
	case i >= int64(len(s)):
		return "", nil
	}
	return s[i : i+1], nil
}

// hstoreSubscript is h['key'].
func (c *Compiler) hstoreSubscript(e Expr, indices []*pg.A_Indices) (Expr, error) {
	if len(indices) != 1 || indices[0].IsSlice {
		return nil, c.refuse("hstore allows only one subscript", -1)
	}
	key, err := c.Compile(indices[0].Uidx)
	if err != nil {
		return nil, err
	}
	made, err := c.coerceTo(key, value.Text, -1, assignment)
	if err == nil && made == nil {
		err = pgerror.New(pgerror.DatatypeMismatch, "hstore subscript must have type text").At(c.Text, locationOf(indices[0].Uidx))
	}
	if err != nil {
		return nil, err
	}
	return c.foldCall(newCall(HstoreFetch, []Expr{e, made}, value.Text, true, Immutable)), nil
}

// HstoreFetch is h -> key.
func HstoreFetch(_ *Env, a []value.Datum) (value.Datum, error) {
	if p, ok := a[0].(hstore.Map).Get(a[1].(string)); ok && !p.Null {
		return p.Value, nil
	}
	return nil, nil
}
