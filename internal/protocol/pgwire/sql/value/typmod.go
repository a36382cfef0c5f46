package value

import (
	"fmt"
	"math"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
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

const maxTimePrecision = 6

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
	return min(p, maxTimePrecision), nil
}

// Fields in the typmod of an interval, and the values for all fields and no precision.
const (
	fieldMonth, fieldYear, fieldDay     = 1 << 1, 1 << 2, 1 << 3
	fieldHour, fieldMinute, fieldSecond = 1 << 10, 1 << 11, 1 << 12
	fieldsAll                           = 0x7fff
	intervalNoPrecision                 = 0xffff
)

var intervalFields = map[int32]string{
	fieldYear: " year", fieldMonth: " month", fieldDay: " day", fieldHour: " hour", fieldMinute: " minute", fieldSecond: " second",
	fieldYear | fieldMonth:                           " year to month",
	fieldDay | fieldHour:                             " day to hour",
	fieldDay | fieldHour | fieldMinute:               " day to minute",
	fieldDay | fieldHour | fieldMinute | fieldSecond: " day to second",
	fieldHour | fieldMinute:                          " hour to minute",
	fieldHour | fieldMinute | fieldSecond:            " hour to second",
	fieldMinute | fieldSecond:                        " minute to second",
	fieldsAll:                                        "",
}

func intervalTypmod(args []int32) (int32, error) {
	if len(args) < 1 || len(args) > 2 {
		return -1, pgerror.New(pgerror.InvalidParameterValue, "invalid INTERVAL type modifier")
	}
	if _, ok := intervalFields[args[0]]; !ok {
		return -1, pgerror.New(pgerror.InvalidParameterValue, "invalid INTERVAL type modifier")
	}
	if len(args) == 1 {
		if args[0] == fieldsAll {
			return -1, nil
		}
		return args[0]<<16 | intervalNoPrecision, nil
	}
	if args[1] < 0 {
		return -1, pgerror.New(pgerror.InvalidParameterValue, "INTERVAL(%d) precision must not be negative", args[1])
	}
	return args[0]<<16 | min(args[1], maxTimePrecision), nil
}

func splitIntervalTypmod(typmod int32) (fields, precision int32) {
	return typmod >> 16 & fieldsAll, typmod & 0xffff
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
		fields, precision := splitIntervalTypmod(typmod)
		if precision == intervalNoPrecision {
			return "interval" + intervalFields[fields]
		}
		return fmt.Sprintf("interval%s(%d)", intervalFields[fields], precision)
	}
	return t.String()
}

// roundMicros rounds to a number of fractional digits, half away from zero.
func roundMicros(micros int64, digits int32) int64 {
	if digits >= maxTimePrecision {
		return micros
	}
	unit := int64(math.Pow10(int(maxTimePrecision - digits)))
	if micros >= 0 {
		return (micros + unit/2) / unit * unit
	}
	return -((-micros + unit/2) / unit * unit)
}

// fit keeps the fields in the typmod and rounds the seconds.
func (i Interval) fit(typmod int32) (Interval, error) {
	fields, precision := splitIntervalTypmod(typmod)
	switch fields {
	case fieldYear:
		i = Interval{Months: i.Months / 12 * 12}
	case fieldMonth, fieldYear | fieldMonth:
		i = Interval{Months: i.Months}
	case fieldDay:
		i.Micros = 0
	case fieldHour, fieldDay | fieldHour:
		i.Micros = i.Micros / microsPerHour * microsPerHour
	case fieldMinute, fieldDay | fieldHour | fieldMinute, fieldHour | fieldMinute:
		i.Micros = i.Micros / microsPerMinute * microsPerMinute
	}
	if precision != intervalNoPrecision {
		i.Micros = roundMicros(i.Micros, precision)
	}
	return i, nil
}
