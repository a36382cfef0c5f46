package expr

import (
	"math"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// constant compiles a literal. A number has the smallest type that fits; a string is untyped.
func (c *Compiler) constant(n *pg.A_Const) (Expr, error) {
	if n.Isnull {
		return &Const{T: value.Unknown, Mod: -1, at: n.Location}, nil
	}
	switch v := n.Val.(type) {
	case *pg.A_Const_Ival:
		return NewConst(value.Int4, int64(v.Ival.GetIval())), nil
	case *pg.A_Const_Fval:
		text := v.Fval.Fval
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			if i >= math.MinInt32 && i <= math.MaxInt32 {
				return NewConst(value.Int4, i), nil
			}
			return NewConst(value.Int8, i), nil
		}
		d, err := value.Parse(value.NumericType, text, &c.Settings)
		if err != nil {
			return nil, at(err, c.Text, n.Location)
		}
		return NewConst(value.NumericType, d), nil
	case *pg.A_Const_Boolval:
		return NewConst(value.Bool, v.Boolval.GetBoolval()), nil
	case *pg.A_Const_Sval:
		return &Const{T: value.Unknown, Value: v.Sval.GetSval(), Mod: -1, at: n.Location}, nil
	}
	return nil, c.refuse("bit strings are not supported", n.Location)
}

// maxParams is the highest number of a parameter. PostgreSQL, too, accepts more than a Bind can
// carry; the limit keeps a high number from taking much memory.
const maxParams = 1 << 17

func (c *Compiler) param(n *pg.ParamRef) (Expr, error) {
	i := int(n.Number) - 1
	if c.Params == nil || i < 0 || i >= maxParams {
		return nil, pgerror.New(pgerror.UndefinedParameter, "there is no parameter $%d", n.Number).At(c.Text, n.Location)
	}
	for len(c.Params.Types) <= i {
		c.Params.Types = append(c.Params.Types, nil)
	}
	t := c.Params.Types[i]
	if t == nil {
		t = value.Unknown
	}
	return &Param{T: t, N: i, at: n.Location}, nil
}

func (c *Compiler) column(n *pg.ColumnRef) (Expr, error) {
	var parts []string
	for _, f := range n.Fields {
		if f.GetAStar() != nil {
			return nil, c.refuse("row expansion via \"*\" is not supported here", n.Location)
		}
		parts = append(parts, f.GetString_().GetSval())
	}
	if c.Column != nil {
		return c.Column(parts, n.Location)
	}
	return nil, NoColumn(parts).At(c.Text, n.Location)
}

// NoColumn returns the error for a column that does not exist.
func NoColumn(parts []string) *pgerror.Error {
	if len(parts) == 1 {
		return pgerror.New(pgerror.UndefinedColumn, "column \"%s\" does not exist", parts[0])
	}
	return pgerror.New(pgerror.UndefinedTable, "missing FROM-clause entry for table \"%s\"", parts[len(parts)-2])
}

// typeCast compiles CAST(x AS t), x::t and t 'x'.
func (c *Compiler) typeCast(n *pg.TypeCast) (Expr, error) {
	t, mod, err := c.TypeOf(n.TypeName)
	if err != nil {
		return nil, err
	}
	var e Expr
	if a := n.Arg.GetAArrayExpr(); a != nil && t.IsArray() {
		e, err = c.array(a, t)
	} else {
		e, err = c.Compile(n.Arg)
	}
	if err != nil {
		return nil, err
	}
	if k, ok := e.(*Const); ok && t == value.IntervalType && mod >= 0 && e.Type() == value.Unknown {
		e = intervalUnit(k, mod)
	}
	made, err := c.coerceTo(e, t, mod, explicit)
	if err != nil {
		return nil, err
	}
	if made == nil {
		place := n.Location
		if place < 0 {
			place = n.TypeName.Location
		}
		return nil, pgerror.New(pgerror.CannotCoerce, "cannot cast type %s to %s", e.Type(), t).At(c.Text, place)
	}
	return made, nil
}

// The units that an interval's typmod may restrict it to, smallest first: INTERVAL '5' DAY means
// five days.
var intervalUnits = []struct {
	bit  uint
	unit string
}{{12, "second"}, {11, "minute"}, {10, "hour"}, {3, "day"}, {1, "month"}, {2, "year"}}

// intervalUnit appends the unit to an interval constant that is only a number.
func intervalUnit(k *Const, mod int32) *Const {
	text, ok := k.Value.(string)
	if _, err := strconv.ParseFloat(strings.TrimSpace(text), 64); !ok || err != nil {
		return k
	}
	for _, u := range intervalUnits {
		if fields := mod >> 16; fields != 0x7FFF && fields&(1<<u.bit) != 0 {
			return &Const{T: k.T, Value: text + " " + u.unit, Mod: -1, at: k.at}
		}
	}
	return k
}

// TypeOf returns the type named in a statement, and its typmod.
func (c *Compiler) TypeOf(n *pg.TypeName) (*value.Type, int32, error) {
	var parts []string
	for _, p := range n.Names {
		parts = append(parts, p.GetString_().GetSval())
	}
	switch {
	case n.Setof:
		return nil, -1, pgerror.New(pgerror.DatatypeMismatch, "SETOF is not allowed here").At(c.Text, n.Location)
	case n.PctType:
		return nil, -1, c.refuse("%%TYPE is not supported", n.Location)
	}
	name, schema := parts[len(parts)-1], ""
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	t := c.findType(schema, name)
	if t == nil {
		return nil, -1, pgerror.New(pgerror.UndefinedObject, "type \"%s\" does not exist", strings.Join(parts, ".")).At(c.Text, n.Location)
	}
	mod, err := c.typmod(n, t)
	if err != nil {
		return nil, -1, at(err, c.Text, n.Location)
	}
	if len(n.ArrayBounds) > 0 && !t.IsArray() {
		if t.Array == nil {
			return nil, -1, unsupportedType(t)
		}
		t = t.Array
	}
	if !hasValues(t) {
		return nil, -1, at(unsupportedType(t), c.Text, n.Location)
	}
	return t, mod, nil
}

func (c *Compiler) findType(schema, name string) *value.Type {
	t := value.ByName(name)
	if t != nil && t.Schema != "pg_catalog" && t.Schema != hstoreSchema && schema != t.Schema {
		t = nil
	}
	if t != nil && (schema == "" || schema == t.Schema) {
		return t
	}
	if c.Type != nil {
		if t := c.Type(schema, name); t != nil {
			return t
		}
	}
	if schema != "" && schema != "pg_catalog" {
		return nil
	}
	if len(linesOf(typeLines, name)) == 1 {
		return typeNamed(name)
	}
	return nil
}

func (c *Compiler) typmod(n *pg.TypeName, t *value.Type) (int32, error) {
	if len(n.Typmods) == 0 {
		return -1, nil
	}
	var args []int32
	for _, m := range n.Typmods {
		k := m.GetAConst()
		if k == nil || k.GetIval() == nil {
			return -1, pgerror.New(pgerror.SyntaxError, "type modifiers must be simple constants or identifiers")
		}
		args = append(args, k.GetIval().GetIval())
	}
	if !hasValues(t) {
		return -1, unsupportedType(t)
	}
	return value.Typmod(t, args)
}
