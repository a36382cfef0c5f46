package expr

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// commonType returns the common type of the expressions of a construct (CASE, UNION, ...).
func (c *Compiler) commonType(name string, all []Expr, locations []int32) (*value.Type, error) {
	t := all[0].Type()
	for i, e := range all[1:] {
		n := e.Type()
		switch {
		case n == value.Unknown || n == t:
		case t == value.Unknown:
			t = n
		case n.Category != t.Category:
			return nil, pgerror.New(pgerror.DatatypeMismatch, "%s types %s and %s cannot be matched", name, t, n).At(c.Text, locations[i+1])
		case !t.Prefer && canCoerceOne(t, n, implicit) && !canCoerceOne(n, t, implicit):
			t = n
		}
	}
	if t == value.Unknown {
		return value.Text, nil
	}
	return t, nil
}

// toCommon converts the expressions to the common type.
func (c *Compiler) toCommon(name string, all []Expr, t *value.Type, locations []int32) ([]Expr, error) {
	made := make([]Expr, len(all))
	for i, e := range all {
		var err error
		if canCoerceOne(e.Type(), t, implicit) {
			made[i], err = c.coerce(e, t, implicit)
		}
		if err != nil {
			return nil, err
		}
		if made[i] == nil {
			return nil, pgerror.New(pgerror.CannotCoerce, "%s could not convert type %s to %s", name, e.Type(), t).At(c.Text, locations[i])
		}
	}
	return made, nil
}

// sameRow reports whether two types are anonymous row types with the same field types.
func sameRow(a, b *value.Type) bool { return isRecord(a) && isRecord(b) && sameFields(a, b) }

// sameFields reports whether two row types have the same field types.
func sameFields(a, b *value.Type) bool {
	if len(a.Fields) != len(b.Fields) {
		return false
	}
	for i, f := range a.Fields {
		if f.Type != b.Fields[i].Type && !sameRow(f.Type, b.Fields[i].Type) {
			return false
		}
	}
	return true
}
