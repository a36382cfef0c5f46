package expr

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// row is ROW(...).
type row struct {
	t      *value.Type
	fields []Expr
}

// NewRow returns a row with the given field names.
func NewRow(fields []Expr, names []string) Expr {
	t := *value.RecordT
	for i, f := range fields {
		t.Fields = append(t.Fields, value.Field{Name: names[i], Type: f.Type()})
	}
	return &row{&t, fields}
}

// Type implements Expr.
func (r *row) Type() *value.Type { return r.t }

// Children implements Parent.
func (r *row) Children() []Expr { return r.fields }

// Eval implements Expr.
func (r *row) Eval(env *Env) (value.Datum, error) {
	made := make(value.Record, len(r.fields))
	for i, f := range r.fields {
		var err error
		if made[i], err = f.Eval(env); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func (c *Compiler) row(n *pg.RowExpr) (Expr, error) {
	var fields []Expr
	for _, a := range n.Args {
		if ref := a.GetColumnRef(); ref != nil && c.Star != nil && ref.Fields[len(ref.Fields)-1].GetAStar() != nil {
			columns, err := c.Star(ref)
			if err != nil {
				return nil, err
			}
			fields = append(fields, columns...)
			continue
		}
		e, err := c.Compile(a)
		if err != nil {
			return nil, err
		}
		fields = append(fields, e)
	}
	names := make([]string, len(fields))
	for i := range names {
		names[i] = fmt.Sprintf("f%d", i+1)
	}
	return NewRow(fields, names), nil
}

// field is (x).name.
type field struct {
	arg   Expr
	t     *value.Type
	index int
}

// Type implements Expr.
func (f *field) Type() *value.Type { return f.t }

// Children implements Parent.
func (f *field) Children() []Expr { return []Expr{f.arg} }

// Eval implements Expr.
func (f *field) Eval(env *Env) (value.Datum, error) {
	d, err := f.arg.Eval(env)
	if d == nil || err != nil {
		return nil, err
	}
	return d.(value.Record)[f.index], nil
}

// Field returns the field at index of a row.
func Field(e Expr, index int) Expr {
	return &field{arg: e, t: e.Type().Fields[index].Type, index: index}
}

// fieldOf returns a field by name.
func fieldOf(e Expr, name string) (Expr, bool) {
	for i, f := range e.Type().Fields {
		if f.Name == name {
			if r, ok := e.(*row); ok {
				return r.fields[i], true
			}
			return Field(e, i), true
		}
	}
	return nil, false
}

// indirection compiles subscripts and fields after an expression.
func (c *Compiler) indirection(n *pg.A_Indirection) (Expr, error) {
	e, err := c.Compile(n.Arg)
	if err != nil {
		return nil, err
	}
	place := locationOf(n.Arg)
	for i := 0; i < len(n.Indirection); {
		if name := n.Indirection[i].GetString_(); name != nil {
			if e, err = c.field(e, name.Sval, place); err != nil {
				return nil, err
			}
			i++
			continue
		}
		var indices []*pg.A_Indices
		for ; i < len(n.Indirection) && n.Indirection[i].GetAIndices() != nil; i++ {
			indices = append(indices, n.Indirection[i].GetAIndices())
		}
		if len(indices) == 0 {
			return nil, c.refuse("row expansion via \"*\" is not supported here", place)
		}
		if e, err = c.subscript(e, indices, place); err != nil {
			return nil, err
		}
	}
	return c.fold(e), nil
}

func (c *Compiler) field(e Expr, name string, place int32) (Expr, error) {
	if found, ok := fieldOf(e, name); ok {
		return found, nil
	}
	t := e.Type()
	switch {
	case isRecord(t):
		return nil, pgerror.New(pgerror.UndefinedColumn, "could not identify column \"%s\" in record data type", name).At(c.Text, place)
	case t.Kind == 'c':
		return nil, pgerror.New(pgerror.UndefinedColumn, "column \"%s\" not found in data type %s", name, t).At(c.Text, place)
	}
	return nil, pgerror.New(pgerror.WrongObjectType, "column notation .%s applied to type %s, which is not a composite type", name, t).
		At(c.Text, place)
}
