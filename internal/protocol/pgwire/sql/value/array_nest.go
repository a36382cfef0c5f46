package value

import "fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"

// NestArrays returns an array with one more dimension than its parts. NULL parts count as empty.
func NestArrays(elem *Type, parts []Datum) (Datum, error) {
	made := &Array{Elem: elem}
	empty := 0
	for _, p := range parts {
		part, _ := p.(*Array)
		if part == nil || len(part.Dims) == 0 {
			empty++
			continue
		}
		if made.Dims == nil {
			if len(part.Dims) >= MaxDims {
				return nil, TooManyDims(len(part.Dims) + 1)
			}
			made.Dims = append([]Dim{{Len: int32(len(parts)), Lower: 1}}, part.Dims...)
		} else if !SameDims(made.Dims[1:], part.Dims) {
			return nil, errNotMatching()
		}
		made.Elems = append(made.Elems, part.Elems...)
	}
	if empty > 0 && made.Dims != nil {
		return nil, errNotMatching()
	}
	return made, nil
}

func errNotMatching() error {
	return pgerror.New(ArraySubscriptError, "multidimensional arrays must have array expressions with matching dimensions")
}

// ArraySubscriptError is the SQLSTATE of invalid dimensions.
const ArraySubscriptError = "2202E"

// SameDims reports whether two lists of dimensions are equal.
func SameDims(a, b []Dim) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
