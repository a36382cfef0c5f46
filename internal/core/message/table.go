package message

import (
	"strconv"
	"strings"
)

// MaxTableDepth is how deep tables and arrays may nest; the table itself is level 1. Real headers
// stay below five (x-death has a table in an array in the header table). The limit keeps a
// malicious header from exhausting the stack.
const MaxTableDepth = 64

// Table is a field table in the order of the wire. Names may repeat, and all are kept; lookups find
// the first.
//
// A value is one of the types below, and each type has one letter, so a decoded table encodes to
// the same bytes. The one exception is a bool sent as an octet other than 0 and 1, which reads as
// true.
//
//	string S | bool t | int8 b | uint8 B | int16 s | uint16 u | int32 I | uint32 i | int64 l | LongLong L | float32 f | float64 d
//	Decimal D | Timestamp T | Table F | Array A | Bytes x | nil V
//
// Code that builds tables may also use int (sent as l), []byte (x) and []any (A).
type Table []Field

// Field is one named value of a Table.
type Field struct {
	Name  string // at most MaxShortStr bytes
	Value any
}

// Array is a list of values of the types that a Table holds.
type Array []any

// Bytes is an octet string rather than text (letter x).
type Bytes []byte

// Timestamp is a time in seconds since 1970-01-01 UTC.
type Timestamp uint64

// LongLong is a 64-bit integer that was received with the letter L. RabbitMQ reads it as signed,
// like l; the type preserves the letter.
type LongLong int64

// Decimal is Value divided by ten to the power of Scale. RabbitMQ reads Value as unsigned.
type Decimal struct {
	Scale uint8
	Value uint32
}

// Text returns d in decimal notation, with Scale digits after the decimal point.
func (d Decimal) Text() string {
	digits := strconv.FormatUint(uint64(d.Value), 10)
	if d.Scale == 0 {
		return digits
	}
	if missing := int(d.Scale) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - int(d.Scale)
	return digits[:point] + "." + digits[point:]
}

// Get returns the first value called name.
func (t Table) Get(name string) (any, bool) {
	for i := range t {
		if t[i].Name == name {
			return t[i].Value, true
		}
	}
	return nil, false
}

// Set replaces the first value called name, or appends one.
func (t *Table) Set(name string, value any) {
	for i := range *t {
		if (*t)[i].Name == name {
			(*t)[i].Value = value
			return
		}
	}
	*t = append(*t, Field{Name: name, Value: value})
}

// Delete removes every value called name.
func (t *Table) Delete(name string) {
	kept := (*t)[:0]
	for _, f := range *t {
		if f.Name != name {
			kept = append(kept, f)
		}
	}
	clear((*t)[len(kept):])
	*t = kept
}

// Int returns v as an int64 if v is an integer of any width and fits. A Timestamp is not an
// integer.
func Int(v any) (int64, bool) {
	switch v := v.(type) {
	case int8:
		return int64(v), true
	case uint8:
		return int64(v), true
	case int16:
		return int64(v), true
	case uint16:
		return int64(v), true
	case int32:
		return int64(v), true
	case uint32:
		return int64(v), true
	case int64:
		return v, true
	case LongLong:
		return int64(v), true
	case int:
		return int64(v), true
	}
	return 0, false
}

// TypeName returns RabbitMQ's name for the type of v, as its error texts print it ("longstr",
// "signedint", ...); "unknown" for a Go type that a Table cannot hold.
func TypeName(v any) string {
	switch v.(type) {
	case string:
		return "longstr"
	case bool:
		return "bool"
	case int8:
		return "byte"
	case uint8:
		return "unsignedbyte"
	case int16:
		return "short"
	case uint16:
		return "unsignedshort"
	case int32:
		return "signedint"
	case uint32:
		return "unsignedint"
	case int64, LongLong, int:
		return "long"
	case float32:
		return "float"
	case float64:
		return "double"
	case Decimal:
		return "decimal"
	case Timestamp:
		return "timestamp"
	case Table:
		return "table"
	case Array, []any:
		return "array"
	case Bytes, []byte:
		return "binary"
	case nil:
		return "void"
	}
	return "unknown"
}
