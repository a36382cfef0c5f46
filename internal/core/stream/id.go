package stream

import (
	"cmp"
	"math"
)

// ID identifies an entry: its time of arrival in Unix ms, or a time chosen by the sender, and a
// sequence number within that time.
type ID struct{ Ms, Seq uint64 }

// MaxID is the largest possible id.
var MaxID = ID{math.MaxUint64, math.MaxUint64}

// Compare returns -1, 0 or 1 if a is before, equal to or after b.
func (a ID) Compare(b ID) int {
	if c := cmp.Compare(a.Ms, b.Ms); c != 0 {
		return c
	}
	return cmp.Compare(a.Seq, b.Seq)
}

// Before reports whether a comes before b.
func (a ID) Before(b ID) bool { return a.Ms < b.Ms || a.Ms == b.Ms && a.Seq < b.Seq }

// IsZero reports whether the id is 0-0, which no entry has.
func (a ID) IsZero() bool { return a == ID{} }

// Next returns the id after a; false if there is none.
func (a ID) Next() (ID, bool) {
	switch {
	case a.Seq < math.MaxUint64:
		return ID{a.Ms, a.Seq + 1}, true
	case a.Ms < math.MaxUint64:
		return ID{a.Ms + 1, 0}, true
	}
	return ID{}, false
}

// Prev returns the id before a; false if there is none.
func (a ID) Prev() (ID, bool) {
	switch {
	case a.Seq > 0:
		return ID{a.Ms, a.Seq - 1}, true
	case a.Ms > 0:
		return ID{a.Ms - 1, math.MaxUint64}, true
	}
	return ID{}, false
}
