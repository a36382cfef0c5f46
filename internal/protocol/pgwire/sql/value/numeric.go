package value

import "math/big"

// Numeric is a number of the type numeric: a decimal with as many digits after its point as it was given. The zero value is 0.
// It is not changed after it was made.
type Numeric struct {
	unscaled *big.Int // nil: 0
	scale    int32    // digits after the point, 0 and up
	special  special
}

type special byte

const (
	finite special = iota
	notANumber
	plusInfinity
	minusInfinity
)
