package value

import (
	"fmt"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
)

// typmodHeader is the offset that PostgreSQL adds to a length, or to a precision with its scale.
// Typmods have PostgreSQL's encoding, because clients receive them.
const typmodHeader = 4

const maxVarchar = 10485760

// Typmod encodes the arguments of a type name: numeric(p, s), varchar(n), timestamp(p), interval
// fields(p). The arguments of interval are the mask of its fields and the precision.
func Typmod(t *Type, args []int32) (int32, error) {
	switch t {
	case NumericType:
		return numericTypmod(args)
	case Varchar, BPChar:
		if len(args) != 1 {
			return -1, pgerror.New(pgerror.InvalidParameterValue, "invalid type modifier")
		}
		name := map[*Type]string{Varchar: "varchar", BPChar: "char"}[t]
		if args[0] < 1 {
			return -1, pgerror.New(pgerror.InvalidParameterValue, "length for type %s must be at least 1", name)
		}
		if args[0] > maxVarchar {
			return -1, pgerror.New(pgerror.InvalidParameterValue, "length for type %s cannot exceed %d", name, maxVarchar)
		}
		return args[0] + typmodHeader, nil
	case TimeType, TimestampType, TimestampTZType, TimeTZ:
		if len(args) != 1 {
			return -1, pgerror.New(pgerror.InvalidParameterValue, "invalid type modifier")
		}
		return timePrecision(t, args[0])
	case IntervalType:
		return intervalTypmod(args)
	}
	if t.IsArray() && t.Category == 'A' {
		return Typmod(t.Elem, args)
	}
	return -1, pgerror.New(pgerror.SyntaxError, "type modifier is not allowed for type \"%s\"", t.Name)
}

func numericTypmod(args []int32) (int32, error) {
	if len(args) < 1 || len(args) > 2 {
		return -1, pgerror.New(pgerror.InvalidParameterValue, "invalid NUMERIC type modifier")
	}
	if args[0] < 1 || args[0] > 1000 {
		return -1, pgerror.New(pgerror.InvalidParameterValue, "NUMERIC precision %d must be between 1 and 1000", args[0])
	}
	scale := int32(0)
	if len(args) == 2 {
		if scale = args[1]; scale < -1000 || scale > 1000 {
			return -1, pgerror.New(pgerror.InvalidParameterValue, "NUMERIC scale %d must be between -1000 and 1000", scale)
		}
	}
	return args[0]<<16 | scale&0x7ff + typmodHeader, nil
}

// timePrecision clamps a precision that is too large, for which PostgreSQL issues a warning.
func timePrecision(t *Type, p int32) (int32, error) {
	if p < 0 {
		zone := ""
		if t == TimestampTZType || t == TimeTZ {
			zone = " WITH TIME ZONE"
		}
		name := strings.ToUpper(strings.TrimSuffix(t.Name, "tz"))
		return -1, pgerror.New(pgerror.InvalidParameterValue, "%s(%d)%s precision must not be negative", name, p, zone)
	}
	return min(p, temporal.MaxPrecision), nil
}

// intervalNoPrecision stands in the typmod of an interval for no precision.
const intervalNoPrecision = 0xffff

func intervalTypmod(args []int32) (int32, error) {
	if len(args) < 1 || len(args) > 2 {
		return -1, pgerror.New(pgerror.InvalidParameterValue, "invalid INTERVAL type modifier")
	}
	fields := temporal.Fields(args[0])
	if !fields.Valid() {
		return -1, pgerror.New(pgerror.InvalidParameterValue, "invalid INTERVAL type modifier")
	}
	if len(args) == 1 {
		if fields == temporal.AllFields {
			return -1, nil
		}
		return args[0]<<16 | intervalNoPrecision, nil
	}
	if args[1] < 0 {
		return -1, pgerror.New(pgerror.InvalidParameterValue, "INTERVAL(%d) precision must not be negative", args[1])
	}
	return args[0]<<16 | min(args[1], temporal.MaxPrecision), nil
}

// intervalParts returns the fields and the precision in the typmod of an interval.
func intervalParts(typmod int32) (fields temporal.Fields, precision int32) {
	return temporal.Fields(typmod>>16) & temporal.AllFields, typmod & 0xffff
}

// numericParts returns the precision and scale in the typmod of a numeric.
func numericParts(typmod int32) (precision, scale int32) {
	typmod -= typmodHeader
	return typmod >> 16 & 0xffff, typmod&0x7ff ^ 1024 - 1024
}

// Format implements format_type(t, typmod): "numeric(10,2)".
func Format(t *Type, typmod int32) string {
	if t.IsArray() && t != Int2Vector && t != OIDVector {
		return Format(t.Elem, typmod) + "[]"
	}
	if typmod < 0 {
		return t.String()
	}
	switch t {
	case NumericType:
		p, s := numericParts(typmod)
		return fmt.Sprintf("numeric(%d,%d)", p, s)
	case Varchar, BPChar:
		return fmt.Sprintf("%s(%d)", t, typmod-typmodHeader)
	case TimeType, TimestampType, TimestampTZType, TimeTZ:
		word, rest, _ := strings.Cut(t.String(), " ")
		return fmt.Sprintf("%s(%d) %s", word, typmod, rest)
	case IntervalType:
		fields, precision := intervalParts(typmod)
		if precision == intervalNoPrecision {
			return "interval" + fields.String()
		}
		return fmt.Sprintf("interval%s(%d)", fields, precision)
	}
	return t.String()
}
