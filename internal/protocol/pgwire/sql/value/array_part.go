package value

// ArrayBound is a subscript. If Given is false, it stands for the bound of the array.
type ArrayBound struct {
	At    int32
	Given bool
}

// ElementAt returns an element, or NULL if there is none at the subscripts.
func ElementAt(a *Array, at []ArrayBound) Datum {
	if len(at) != len(a.Dims) || len(at) == 0 {
		return nil
	}
	i := 0
	for n, dim := range a.Dims {
		offset := int64(at[n].At) - int64(dim.Lower)
		if offset < 0 || offset >= int64(dim.Len) {
			return nil
		}
		i = i*int(dim.Len) + int(offset)
	}
	return a.Elems[i]
}

// SliceArray returns a slice of an array, with lower bounds of 1. It is empty if nothing is in the
// range.
func SliceArray(a *Array, lower, upper []ArrayBound) Datum {
	empty := &Array{Elem: a.Elem}
	if len(upper) > len(a.Dims) || len(a.Dims) == 0 {
		return empty
	}
	made := &Array{Elem: a.Elem}
	from := make([]int, len(a.Dims))
	for n, dim := range a.Dims {
		low, high := int64(dim.Lower), int64(dim.Lower)+int64(dim.Len)-1
		if n < len(upper) {
			if lower[n].Given {
				low = max(low, int64(lower[n].At))
			}
			if upper[n].Given {
				high = min(high, int64(upper[n].At))
			}
		}
		if low > high {
			return empty
		}
		from[n] = int(low - int64(dim.Lower))
		made.Dims = append(made.Dims, Dim{Len: int32(high - low + 1), Lower: 1})
	}
	made.Elems = copySlice(nil, a, made.Dims, from, 0, 0)
	return made
}

func copySlice(dst []Datum, a *Array, dims []Dim, from []int, n, base int) []Datum {
	base *= int(a.Dims[n].Len)
	for i := range int(dims[n].Len) {
		at := base + from[n] + i
		if n == len(dims)-1 {
			dst = append(dst, a.Elems[at])
		} else {
			dst = copySlice(dst, a, dims, from, n+1, at)
		}
	}
	return dst
}
