package selector

import (
	"encoding/binary"
	"math"

	"fiveways.dev/fiveways/internal/core/message"
)

// view reads a message during evaluation.
type view struct {
	m       Message // a copy, so that callers can keep theirs on the stack
	headers []byte  // raw table, once found is true
	found   bool
}

// field returns the value of a name that is not a header.
func (v *view) field(s source) value {
	switch s.field {
	case fieldExchange:
		return strValue(v.m.Exchange)
	case fieldKey:
		return strValue(v.m.Key)
	}
	b, ok := message.FindProperty(v.m.Props, s.flag)
	switch {
	case s.field == fieldDurability:
		if ok && b[0] == message.Persistent {
			return strValue("PERSISTENT")
		}
		return strValue("NON_PERSISTENT")
	case !ok:
		return value{}
	}
	switch s.field {
	case fieldOctet:
		return intValue(int64(b[0]))
	case fieldSeconds:
		return seconds(binary.BigEndian.Uint64(b))
	case fieldMilliseconds:
		return calculate(opMul, seconds(binary.BigEndian.Uint64(b)), intValue(1000))
	}
	return strValue(text(b))
}

// seconds returns a timestamp; beyond the range of integers it is a float.
func seconds(u uint64) value {
	if u > math.MaxInt64 {
		return floatValue(float64(u), null)
	}
	return intValue(int64(u))
}

// header returns the value of a header, or NULL if it is missing.
func (v *view) header(name string) value {
	if !v.found {
		v.headers, _ = message.FindProperty(v.m.Props, message.HasHeaders)
		v.found = true
	}
	letter, b, ok := message.FindHeader(v.headers, name)
	if !ok {
		return value{}
	}
	be := binary.BigEndian
	switch letter {
	case 'S', 'x':
		return strValue(text(b))
	case 't':
		return boolValue(b[0] != 0)
	case 'b':
		return intValue(int64(int8(b[0])))
	case 'B':
		return intValue(int64(b[0]))
	case 's':
		return intValue(int64(int16(be.Uint16(b))))
	case 'u':
		return intValue(int64(be.Uint16(b)))
	case 'I':
		return intValue(int64(int32(be.Uint32(b))))
	case 'i':
		return intValue(int64(be.Uint32(b)))
	case 'l', 'L':
		return intValue(int64(be.Uint64(b)))
	case 'f':
		return floatValue(float64(math.Float32frombits(be.Uint32(b))), other)
	case 'd':
		return floatValue(math.Float64frombits(be.Uint64(b)), other)
	case 'D':
		return decimal(b[0], be.Uint32(b[1:]))
	case 'T':
		return seconds(be.Uint64(b))
	case 'V':
		return value{}
	}
	return value{kind: other}
}

// decimal returns v divided by ten to the power of scale.
func decimal(scale uint8, v uint32) value {
	if scale == 0 {
		return intValue(int64(v))
	}
	return floatValue(float64(v)/math.Pow10(int(scale)), null)
}
