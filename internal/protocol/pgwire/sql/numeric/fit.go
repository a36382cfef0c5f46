package numeric

import (
	"fmt"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// Fit rounds n to a scale, as numeric(precision, scale) does. It returns an error if there are too
// many digits before the decimal point.
func (n Number) Fit(precision, scale int32) (Number, error) {
	if n.IsNaN() {
		return n, nil
	}
	overflow := pgerror.New(pgerror.NumericOutOfRange, "numeric field overflow")
	if n.IsInf() {
		return n, overflow.WithDetail("A field with precision %d, scale %d cannot hold an infinite value.", precision, scale)
	}
	n = n.Round(int(scale))
	if n.Sign() == 0 || n.digits()-n.scale <= precision-scale {
		return n, nil
	}
	bound := "1"
	if precision != scale {
		bound = fmt.Sprintf("10^%d", precision-scale)
	}
	return n, overflow.WithDetail("A field with precision %d, scale %d must round to an absolute value less than %s.", precision, scale, bound)
}
