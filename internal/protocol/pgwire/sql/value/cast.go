package value

import (
	"math"
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/numeric"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
)

// Cast converts d and applies typmod (-1: none). NULL stays NULL. explicit is set for CAST and ::,
// which may truncate where an assignment fails. The caller checks that the cast is allowed.
func Cast(from, to *Type, d Datum, typmod int32, explicit bool, set *Settings) (Datum, error) {
	if d == nil {
		return nil, nil
	}
	if from != to {
		var err error
		if d, err = convert(from, to, d, typmod, explicit, set); err != nil {
			return nil, err
		}
	}
	if typmod < 0 {
		return d, nil
	}
	return Fit(to, d, typmod, explicit)
}

func convert(from, to *Type, d Datum, typmod int32, explicit bool, set *Settings) (Datum, error) {
	switch v := d.(type) {
	case int64:
		if from.isNumber() || from.isOID() {
			return convertInt(from, to, v, set)
		}
	case float64:
		return convertFloat(from, to, v, set)
	case numeric.Number:
		return convertNumeric(to, v, set)
	case bool:
		if to == Int4 {
			return int64(order(v)), nil
		}
		if to.Category == 'S' && to != Name {
			return map[bool]string{true: "true", false: "false"}[v], nil
		}
	case string:
		if done, result, err := convertString(from, to, v); done {
			return result, err
		}
	case temporal.Date, temporal.Time, temporal.Timestamp, temporal.TimestampTZ, temporal.Interval:
		if done, result, err := convertTime(to, v, set); done {
			return result, err
		}
	case hstore.Map:
		if to == JSON {
			return string(v.AppendJSON(nil, false)), nil
		}
		if to == JSONB {
			return parseJSON(JSONB, string(v.AppendJSON(nil, false)))
		}
	case *Array:
		if to == Hstore {
			return HstoreOfArray(v)
		}
		if to.IsArray() {
			return convertArray(to, v, typmod, explicit, set)
		}
	case Record:
		if to.IsRow() {
			return convertRecord(from, to, v, explicit, set)
		}
	}
	if to == IntervalType && from == Unknown { // for a literal, the typmod determines the unit of a plain number
		fields := temporal.AllFields
		if typmod >= 0 {
			fields, _ = intervalParts(typmod)
		}
		return datum(temporal.ParseInterval(String(from, d, set), fields, set.IntervalStyle))
	}
	return Parse(to, String(from, d, set), set)
}

func (t *Type) isNumber() bool {
	switch t {
	case Int2, Int4, Int8, Float4, Float8, NumericType:
		return true
	}
	return false
}

func convertInt(from, to *Type, v int64, set *Settings) (Datum, error) {
	switch {
	case to == Float4:
		return float64(float32(v)), nil
	case to == Float8:
		return float64(v), nil
	case to == NumericType:
		return numeric.FromInt(v), nil
	case to == Bool:
		return v != 0, nil
	case to == Char:
		if v < math.MinInt8 || v > math.MaxInt8 {
			return nil, pgerror.New(pgerror.NumericOutOfRange, "\"char\" out of range")
		}
		if v == 0 {
			return "", nil
		}
		return string([]byte{byte(v)}), nil
	case to.isOID():
		if from == Int8 && !FitsInt(OID, v) {
			return nil, pgerror.New(pgerror.NumericOutOfRange, "OID out of range")
		}
		return int64(uint32(v)), nil
	case from.isOID() && to == Int4:
		return int64(int32(v)), nil
	case to == Int2 || to == Int4 || to == Int8:
		if !FitsInt(to, v) {
			return nil, ErrOutOfRange(to)
		}
		return v, nil
	}
	return Parse(to, String(from, v, set), set)
}

func convertFloat(from, to *Type, v float64, set *Settings) (Datum, error) {
	switch to {
	case Float8:
		return v, nil
	case Float4:
		f := float64(float32(v))
		if math.IsInf(f, 0) && !math.IsInf(v, 0) {
			return nil, pgerror.New(pgerror.NumericOutOfRange, "value out of range: overflow")
		}
		if f == 0 && v != 0 {
			return nil, pgerror.New(pgerror.NumericOutOfRange, "value out of range: underflow")
		}
		return f, nil
	case NumericType:
		digits := numeric.Float8Digits
		if from == Float4 {
			digits = numeric.Float4Digits
		}
		return numeric.FromFloat(v, digits), nil
	case Int2, Int4, Int8:
		rounded := math.RoundToEven(v)
		if !(rounded >= -1<<63 && rounded < 1<<63) || !FitsInt(to, int64(rounded)) {
			return nil, ErrOutOfRange(to)
		}
		return int64(rounded), nil
	}
	return Parse(to, String(from, v, set), set)
}

func convertNumeric(to *Type, v numeric.Number, set *Settings) (Datum, error) {
	switch to {
	case Int2, Int4, Int8:
		return datum(ToInt(v, to))
	case Float8, Float4:
		return datum(parseFloat(to, v.String()))
	}
	return Parse(to, v.String(), set)
}

// ToInt rounds n to an integer of the type to. It returns an error if n is out of range.
func ToInt(n numeric.Number, to *Type) (int64, error) {
	switch {
	case n.IsNaN():
		return 0, pgerror.New(pgerror.FeatureNotSupported, "cannot convert NaN to %s", to)
	case n.IsInf():
		return 0, pgerror.New(pgerror.FeatureNotSupported, "cannot convert infinity to %s", to)
	}
	i, ok := n.Int64()
	if !ok || !FitsInt(to, i) {
		return 0, ErrOutOfRange(to)
	}
	return i, nil
}

// convertString casts between types whose values are strings, unless the cast parses the text
// again.
func convertString(from, to *Type, v string) (done bool, _ Datum, err error) {
	if from == BPChar && to.Category == 'S' && to != BPChar {
		v = strings.TrimRight(v, " ")
	}
	switch {
	case from == JSONB && to != JSON && to.Category != 'S':
		result, err := convertJSON(to, v)
		return true, result, err
	case from == Char && to == Int4:
		if v == "" {
			return true, int64(0), nil
		}
		return true, int64(int8(v[0])), nil
	case from == Char && to.Category == 'S':
		return true, string(appendChar(nil, v)), nil
	case to == Text || to == Varchar || to == BPChar || to == Unknown || to == CString:
		return true, v, nil
	case to == Name:
		return true, cutText(v, maxNameBytes), nil
	}
	return false, nil, nil
}

func convertJSON(to *Type, v string) (Datum, error) {
	node, err := ParseJSON(v, true)
	if err != nil {
		return nil, err
	}
	kind := map[byte]string{'n': "null", 's': "string", '#': "numeric", 'b': "boolean", 'a': "array", 'o': "object"}[node.Kind]
	switch {
	case to == Bool && node.Kind == 'b':
		return node.Bool, nil
	case to.isNumber() && node.Kind == '#':
		if to == NumericType {
			return node.Number, nil
		}
		return convertNumeric(to, node.Number, nil)
	}
	return nil, pgerror.New(pgerror.InvalidParameterValue, "cannot cast jsonb %s to type %s", kind, to)
}

func convertArray(to *Type, v *Array, typmod int32, explicit bool, set *Settings) (Datum, error) {
	if v.Elem == to.Elem {
		return v, nil
	}
	result := &Array{Elem: to.Elem, Dims: v.Dims, Elems: make([]Datum, len(v.Elems))}
	for i, e := range v.Elems {
		var err error
		if result.Elems[i], err = Cast(v.Elem, to.Elem, e, -1, explicit, set); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func convertRecord(from, to *Type, v Record, explicit bool, set *Settings) (Datum, error) {
	if to == RecordT {
		return v, nil
	}
	if len(v) != len(to.Fields) {
		detail := "Input has too few columns."
		if len(v) > len(to.Fields) {
			detail = "Input has too many columns."
		}
		return nil, pgerror.New(pgerror.CannotCoerce, "cannot cast type %s to %s", from, to).WithDetail("%s", detail)
	}
	result := make(Record, len(v))
	for i, d := range v {
		var err error
		if result[i], err = Cast(fieldType(from, i, d), to.Fields[i].Type, d, -1, explicit, set); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// HstoreOfArray implements hstore(text[]): alternating keys and values, or rows of two.
func HstoreOfArray(a *Array) (Datum, error) {
	switch {
	case len(a.Dims) > 2:
		return nil, pgerror.New("2202E", "wrong number of array subscripts")
	case len(a.Dims) == 2 && a.Dims[1].Len != 2:
		return nil, pgerror.New("2202E", "array must have two columns")
	case len(a.Elems)%2 != 0:
		return nil, pgerror.New("2202E", "array must have even number of elements")
	}
	pairs := make([]hstore.Pair, 0, len(a.Elems)/2)
	for i := 0; i < len(a.Elems); i += 2 {
		key, ok := a.Elems[i].(string)
		if !ok {
			return nil, pgerror.New(pgerror.NullNotAllowed, "null value not allowed for hstore key")
		}
		text, ok := a.Elems[i+1].(string)
		pairs = append(pairs, hstore.Pair{Key: key, Value: text, Null: !ok})
	}
	return hstore.New(pairs), nil
}

// Fit applies the typmod of t to d: numeric(p, s), varchar(n), timestamp(p) and so on. It returns
// an error if an assignment would truncate a text, unless only blanks are removed.
func Fit(t *Type, d Datum, typmod int32, explicit bool) (Datum, error) {
	if typmod < 0 || d == nil {
		return d, nil
	}
	switch v := d.(type) {
	case numeric.Number:
		return datum(v.Fit(numericParts(typmod)))
	case string:
		return fitString(t, v, typmod, explicit)
	case temporal.Time:
		return v.Round(typmod), nil
	case temporal.Timestamp:
		return v.Round(typmod), nil
	case temporal.TimestampTZ:
		return v.Round(typmod), nil
	case temporal.Interval:
		fields, precision := intervalParts(typmod)
		return v.Keep(fields).Round(precision), nil
	case *Array:
		result := &Array{Elem: v.Elem, Dims: v.Dims, Elems: make([]Datum, len(v.Elems))}
		for i, e := range v.Elems {
			var err error
			if result.Elems[i], err = Fit(v.Elem, e, typmod, explicit); err != nil {
				return nil, err
			}
		}
		return result, nil
	}
	return d, nil
}

func fitString(t *Type, s string, typmod int32, explicit bool) (Datum, error) {
	if t != Varchar && t != BPChar {
		return s, nil
	}
	limit := int(typmod - typmodHeader)
	if count := utf8.RuneCountInString(s); count <= limit {
		if t == BPChar {
			s += strings.Repeat(" ", limit-count)
		}
		return s, nil
	}
	end := 0
	for range limit {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	if !explicit && strings.Trim(s[end:], " ") != "" {
		return nil, pgerror.New("22001", "value too long for type %s", Format(t, typmod))
	}
	return s[:end], nil
}
