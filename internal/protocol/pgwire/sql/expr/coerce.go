package expr

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// cast is a conversion at evaluation time.
type cast struct {
	arg      Expr
	from, to *value.Type
	mod      int32
	explicit bool
	stable   bool // the result depends on the session
}

// Type implements Expr.
func (c *cast) Type() *value.Type { return c.to }

// Typmod implements modified.
func (c *cast) Typmod() int32 { return c.mod }

// Children implements Parent.
func (c *cast) Children() []Expr { return []Expr{c.arg} }

// Volatility implements Dependent.
func (c *cast) Volatility() Volatility {
	if c.stable {
		return Stable
	}
	return Immutable
}

// Eval implements Expr.
func (c *cast) Eval(env *Env) (value.Datum, error) {
	d, err := c.arg.Eval(env)
	if d == nil || err != nil {
		return nil, err
	}
	return value.Cast(c.from, c.to, d, c.mod, c.explicit, &env.Settings)
}

// retyped is a value with a different type of the same representation.
type retyped struct {
	Expr
	to *value.Type
}

// Type implements Expr.
func (r *retyped) Type() *value.Type { return r.to }

// Children implements Parent.
func (r *retyped) Children() []Expr { return []Expr{r.Expr} }

// Volatility implements Dependent. The operand counts separately.
func (r *retyped) Volatility() Volatility { return Immutable }

// Typmod implements modified.
func (r *retyped) Typmod() int32 { return -1 }

// coerce converts e to a type that canCoerce has accepted. It returns nil, nil if there is no
// conversion.
func (c *Compiler) coerce(e Expr, to *value.Type, ctx castContext) (Expr, error) {
	from := e.Type()
	if from == to || sameRow(from, to) || to == value.Any || isPolymorphic(to) || isRecord(from) && to == value.RecordT {
		return e, nil
	}
	if from == value.Unknown {
		return c.coerceUnknown(e, to)
	}
	if to.Kind == 'c' && isRecord(from) {
		return c.coerceRecord(e, to, ctx)
	}
	if from.Kind == 'c' && to == value.RecordT || from.Elem != nil && from.Elem.IsRow() && to == value.RecordT.Array {
		return e, nil // the value keeps the type that has its fields
	}
	switch findPathway(from, to, ctx) {
	case noPathway:
		return nil, nil
	case relabel:
		if sameForm(from, to) {
			return c.fold(&retyped{e, to}), nil
		}
	}
	return c.castTo(e, to, -1, ctx)
}

// castTo returns a conversion, which is evaluated at once for a constant.
func (c *Compiler) castTo(e Expr, to *value.Type, mod int32, ctx castContext) (Expr, error) {
	if !hasValues(to) {
		return nil, unsupportedType(to)
	}
	made := &cast{arg: e, from: e.Type(), to: to, mod: mod, explicit: ctx == explicit, stable: stableCast(e.Type(), to)}
	return c.foldStrict(made), nil
}

// hasValues reports whether values of the type exist here.
func hasValues(t *value.Type) bool {
	return value.ByOID(t.OID) == t || t.IsRow() || t.IsArray() && hasValues(t.Elem)
}

func unsupportedType(t *value.Type) error {
	return pgerror.New(pgerror.FeatureNotSupported, "type %s is not supported", t)
}

// sameForm reports whether a value of from is also a valid value of to.
func sameForm(from, to *value.Type) bool {
	return from.Category == 'S' && to.Category == 'S' || to == value.OID && from.Category == 'N' && from != value.Int4 ||
		from == value.OID && to.Category == 'N' && to != value.Int4
}

// coerceUnknown parses an untyped constant, or assigns the type to a parameter.
func (c *Compiler) coerceUnknown(e Expr, to *value.Type) (Expr, error) {
	switch e := e.(type) {
	case *Const:
		if !hasValues(to) {
			return nil, unsupportedType(to)
		}
		if e.Value == nil {
			return &Const{T: to, Mod: -1, at: e.at}, nil
		}
		if to.Kind == 'p' && to != value.RecordT && to != value.CString && to != value.Void {
			return nil, nil
		}
		set := c.Settings
		d, err := value.Parse(to, e.Value.(string), &set)
		if err != nil {
			return nil, at(err, c.Text, e.at)
		}
		return &Const{T: to, Value: d, Mod: -1, at: -1}, nil
	case *Param:
		return c.coerceParam(e, to)
	}
	return c.castTo(e, to, -1, explicit)
}

func (c *Compiler) coerceParam(p *Param, to *value.Type) (Expr, error) {
	known := c.Params.Types[p.N]
	switch {
	case known == nil || known == value.Unknown:
		c.Params.Types[p.N] = to
	case known != to:
		return nil, pgerror.New(pgerror.AmbiguousParameter, "inconsistent types deduced for parameter $%d", p.N+1).
			WithDetail("%s versus %s", known, to).At(c.Text, p.at)
	}
	return &Param{T: to, N: p.N, at: p.at}, nil
}

// at adds a position to a *pgerror.Error.
func at(err error, text string, offset int32) error {
	if e, ok := err.(*pgerror.Error); ok {
		return e.At(text, offset)
	}
	return err
}

// coerceRecord converts a row to a composite type, field by field.
func (c *Compiler) coerceRecord(e Expr, to *value.Type, ctx castContext) (Expr, error) {
	r, ok := e.(*row)
	if !ok {
		return nil, nil
	}
	cannot := func(detail string, args ...any) error {
		return pgerror.New(pgerror.CannotCoerce, "cannot cast type %s to %s", "record", to).WithDetail(detail, args...)
	}
	if len(r.fields) < len(to.Fields) {
		return nil, cannot("Input has too few columns.")
	}
	if len(r.fields) > len(to.Fields) {
		return nil, cannot("Input has too many columns.")
	}
	made := &row{t: to}
	for i, f := range r.fields {
		if !canCoerceOne(f.Type(), to.Fields[i].Type, ctx) {
			return nil, cannot("Cannot cast type %s to %s in column %d.", f.Type(), to.Fields[i].Type, i+1)
		}
		field, err := c.coerce(f, to.Fields[i].Type, ctx)
		if err != nil {
			return nil, err
		}
		made.fields = append(made.fields, field)
	}
	return made, nil
}

// stableInput and stableOutput are the types whose text format depends on the session.
var (
	stableInput = map[*value.Type]bool{
		value.DateType: true, value.TimeType: true, value.TimestampType: true, value.TimestampTZType: true, value.TimeTZ: true,
		value.IntervalType: true, value.RecordT: true, value.Regclass: true, value.Regproc: true, value.Regprocedure: true, value.Regoper: true,
		value.Regoperator: true, value.Regtype: true, value.Regnamespace: true, value.Regrole: true, value.Regcollation: true, value.XML: true,
	}
	stableOutput = map[*value.Type]bool{
		value.IntervalType: true, value.DateType: true, value.TimestampType: true, value.TimestampTZType: true, value.RecordT: true, value.Regclass: true,
		value.Regproc: true, value.Regprocedure: true, value.Regoper: true, value.Regoperator: true, value.Regtype: true,
		value.Regnamespace: true, value.Regrole: true, value.Regcollation: true,
	}
)

// stableCast reports whether a conversion depends on the session. That applies to conversions
// between times with and without time zone, and to conversions by a text format that depends on the
// session.
func stableCast(from, to *value.Type) bool {
	switch findPathway(from, to, explicit) {
	case byText:
		return stableInput[to] || stableOutput[from] || from.IsArray() || to.IsArray() || from.IsRow() || to.IsRow()
	case byElement:
		return stableCast(from.Elem, to.Elem)
	case byFunction:
		zoned := func(t *value.Type) bool { return t == value.TimestampTZType || t == value.TimeTZ }
		return zoned(from) != zoned(to) && from.Category == 'D' && to.Category == 'D' || to == value.Regclass
	}
	return false
}

// coerceTo converts e to t if ctx allows it, and applies a typmod. It returns nil, nil if there is
// no conversion.
func (c *Compiler) coerceTo(e Expr, t *value.Type, mod int32, ctx castContext) (Expr, error) {
	from := e.Type()
	if !canCoerceOne(from, t, ctx) {
		return nil, nil
	}
	made, err := c.coerce(e, t, ctx)
	if made == nil || err != nil {
		return nil, err
	}
	if mod >= 0 && (Typmod(made) != mod || made.Type() != t) {
		return c.castTo(made, t, mod, ctx)
	}
	return made, nil
}
