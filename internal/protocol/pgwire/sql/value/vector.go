package value

import (
	"strconv"
	"strings"
)

func appendInt(dst []byte, i int64) []byte { return strconv.AppendInt(dst, i, 10) }

// parseVector parses the text format of int2vector and oidvector: numbers separated by blanks.
func parseVector(t *Type, s string, set *Settings) (Datum, error) {
	words := strings.Fields(s)
	elems := make([]Datum, len(words))
	for i, w := range words {
		d, err := Parse(t.Elem, w, set)
		if err != nil {
			return nil, err
		}
		elems[i] = d
	}
	return Vector(t.Elem, elems), nil
}

// Vector returns a value of int2vector or oidvector, whose lower bound is 0.
func Vector(elem *Type, elems []Datum) *Array {
	return &Array{Elem: elem, Dims: []Dim{{Len: int32(len(elems)), Lower: 0}}, Elems: elems}
}

func appendVector(dst []byte, a *Array) []byte {
	for i, d := range a.Elems {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = appendInt(dst, d.(int64))
	}
	return dst
}
