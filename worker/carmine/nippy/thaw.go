package nippy

import (
	"encoding/binary"
	"math"
	"math/big"
	"time"
)

// Thaw returns the value of frozen data. Its errors wrap ErrUnsupported or ErrMalformed.
func Thaw(frozen []byte) (any, error) {
	raw, err := open(frozen)
	if err != nil {
		return nil, err
	}
	r := reader{rest: raw, cache: map[int]any{}}
	v := r.element()
	if r.err != nil {
		return nil, r.err
	}
	return v, nil
}

// shape describes how a type encodes its length: the number of bytes (negative: counted from the
// smallest value; 0: none).
type shape struct {
	kind byte
	size int
	of   int64 // with size 0: the fixed count
}

// shapes holds the types with a length or a count. Kinds: string, keyword, symbol, bytes, vector,
// set, map, flat map (counted by keys and values), record.
var shapes = map[byte]shape{
	34: {'s', 0, 0}, 96: {'s', -1, 0}, 105: {'s', 1, 0}, 16: {'s', 2, 0}, 13: {'s', 4, 0},
	106: {'k', 1, 0}, 85: {'k', 2, 0}, 77: {'k', 4, 0}, 14: {'k', 4, 0},
	56: {'y', 1, 0}, 86: {'y', 2, 0}, 78: {'y', 4, 0}, 57: {'y', 4, 0},
	53: {'b', 0, 0}, 7: {'b', 1, 0}, 15: {'b', 2, 0}, 2: {'b', 4, 0},
	17: {'v', 0, 0}, 113: {'v', 0, 2}, 114: {'v', 0, 3}, 97: {'v', -1, 0}, 110: {'v', 1, 0}, 69: {'v', 2, 0}, 21: {'v', 4, 0},
	35: {'v', 0, 0}, 36: {'v', 1, 0}, 54: {'v', 2, 0}, 20: {'v', 4, 0},
	37: {'v', 0, 0}, 38: {'v', 1, 0}, 39: {'v', 2, 0}, 24: {'v', 4, 0}, 26: {'v', 4, 0}, 103: {'v', 0, 2},
	107: {'v', 4, 0}, 115: {'v', 4, 0}, 109: {'v', 4, 0}, 108: {'v', 4, 0}, 117: {'v', 4, 0}, 116: {'v', 4, 0},
	18: {'e', 0, 0}, 98: {'e', -1, 0}, 111: {'e', 1, 0}, 32: {'e', 2, 0}, 23: {'e', 4, 0}, 28: {'e', 4, 0},
	19: {'m', 0, 0}, 99: {'m', -1, 0}, 123: {'m', -1, 0}, 112: {'m', 1, 0}, 33: {'m', 2, 0}, 30: {'m', 4, 0}, 31: {'m', 4, 0}, 22: {'m', 4, 0},
	27: {'f', 4, 0}, 29: {'f', 4, 0},
	48: {'r', 1, 0}, 49: {'r', 2, 0}, 80: {'r', 4, 0},
}

// element reads a type byte and its value.
func (r *reader) element() any {
	if r.values++; r.values > maxValues {
		r.fail(ErrMalformed, "more than %d values", maxValues)
	}
	if r.depth++; r.depth > maxDepth {
		r.fail(ErrMalformed, "more than %d levels", maxDepth)
	}
	defer func() { r.depth-- }()
	b := r.take(1)
	if b == nil {
		return nil
	}
	if s, ok := shapes[b[0]]; ok {
		n := s.of
		if s.size != 0 {
			n = r.length(s.size)
		}
		return r.shaped(s.kind, n)
	}
	if v, ok := r.number(b[0]); ok {
		return v
	}
	return r.other(b[0])
}

func (r *reader) shaped(kind byte, n int64) any {
	switch kind {
	case 's':
		return r.text(n)
	case 'k':
		return Keyword(r.text(n))
	case 'y':
		return Symbol(r.text(n))
	case 'b':
		return r.bytes(n)
	case 'v':
		return r.elements(r.count(n, 1))
	case 'e':
		return Set(r.elements(r.count(n, 1)))
	case 'm':
		return r.pairs(r.count(n, 2))
	case 'f':
		return r.pairs(r.count(n/2, 2))
	}
	return Record{r.text(n), r.element()}
}

func (r *reader) elements(n int) []any {
	all := make([]any, 0, min(n, maxValues))
	for range n {
		if all = append(all, r.element()); r.err != nil {
			return nil
		}
	}
	return all
}

func (r *reader) pairs(n int) Map {
	all := make(Map, 0, min(n, maxValues/2))
	for range n {
		if all = append(all, Entry{r.element(), r.element()}); r.err != nil {
			return nil
		}
	}
	return all
}

// number reads a number. ok is false if id is not a number type.
func (r *reader) number(id byte) (any, bool) {
	switch id {
	case 0:
		return int64(0), true
	case 40, 100:
		return r.signed(1), true
	case 41, 101:
		return r.signed(2), true
	case 42, 102:
		return r.signed(4), true
	case 43:
		return r.signed(8), true
	case 87, 88, 89:
		return r.offset(1 << (id - 87)), true
	case 93, 94, 95:
		return -r.offset(1 << (id - 93)), true
	case 55:
		return float64(0), true
	case 60:
		return math.Float32frombits(uint32(r.signed(4))), true
	case 61:
		return math.Float64frombits(uint64(r.signed(8))), true
	case 44, 45:
		return r.bigInt(), true
	case 62:
		return Decimal{r.bigInt(), int32(r.signed(4))}, true
	case 70:
		over, under := r.bigInt(), r.bigInt()
		if under.Sign() == 0 {
			r.fail(ErrMalformed, "a ratio with nothing under it")
			return nil, true
		}
		return new(big.Rat).SetFrac(over, under), true
	case 118, 119, 120, 121:
		return r.primitives(id), true
	}
	return nil, false
}

// primitives reads an array of ints, longs, floats or doubles.
func (r *reader) primitives(id byte) []any {
	size := 4
	if id == 119 || id == 121 {
		size = 8
	}
	n := r.count(r.signed(4), int64(size))
	if r.values += n; r.values > maxValues {
		r.fail(ErrMalformed, "more than %d values", maxValues)
		return nil
	}
	all := make([]any, n)
	for i := range all {
		switch id {
		case 118, 119:
			all[i] = r.signed(size)
		case 120:
			all[i] = math.Float32frombits(uint32(r.signed(4)))
		case 121:
			all[i] = math.Float64frombits(uint64(r.signed(8)))
		}
	}
	return all
}

func (r *reader) other(id byte) any {
	switch id {
	case 3:
		return nil
	case 8, 9:
		return id == 8
	case 4:
		return r.signed(1) != 0
	case 10:
		return Char(uint16(r.signed(2)))
	case 104: // in metadata, in place of a function
		return Keyword("taoensso.nippy/meta-protocol-key")
	case 25:
		r.element()
		return r.element()
	case 90, 92:
		return time.UnixMilli(r.signed(8)).UTC()
	case 79:
		return time.Unix(r.signed(8), r.signed(4)).UTC()
	case 83:
		return Duration{r.signed(8), int32(r.signed(4))}
	case 84:
		return Period{int32(r.signed(4)), int32(r.signed(4)), int32(r.signed(4))}
	case 91:
		var u UUID
		copy(u[:], r.take(len(u)))
		return u
	case 71, 58:
		s, ok := r.element().(string)
		if !ok {
			r.fail(ErrMalformed, "type %d without its text", id)
		}
		if id == 58 {
			return Pattern(s)
		}
		return URI(s)
	}
	if n, ok := r.cached(id); ok {
		return n
	}
	r.refuse(id)
	return nil
}

// cached reads a value that is frozen once and then referred to by number.
func (r *reader) cached(id byte) (any, bool) {
	var i int
	switch id {
	case 59:
		i = 0
	case 63, 64, 65, 66:
		i = int(id) - 62
	case 72, 73, 74:
		i = int(id) - 67
	case 67:
		i = int(r.signed(1))
	case 68:
		i = int(r.signed(2))
	default:
		return nil, false
	}
	v, ok := r.cache[i]
	if !ok {
		if v = r.element(); r.err == nil {
			r.cache[i] = v
		}
	}
	return v, true
}

// refuse fails with an error that names the unsupported type.
func (r *reader) refuse(id byte) {
	switch {
	case id == 75, id == 76, id == 46, id == 50, id == 6:
		r.fail(ErrUnsupported, "an object of Java, serialised (type %d)", id)
	case id == 47, id == 51, id == 52, id == 5, id == 1, id == 11, id == 12:
		r.fail(ErrUnsupported, "a value that Clojure's reader has to read (type %d)", id)
	case id == 81, id == 122:
		r.fail(ErrUnsupported, "a deftype (type %d)", id)
	case id == 82:
		r.fail(ErrUnsupported, "a custom type of the program that froze it (number %d)", int16(binary.BigEndian.Uint16(append(r.take(min(2, len(r.rest))), 0, 0))))
	case id >= 128:
		r.fail(ErrUnsupported, "a custom type of the program that froze it (number %d)", 256-int(id))
	default:
		r.fail(ErrMalformed, "no type has the number %d", id)
	}
}
