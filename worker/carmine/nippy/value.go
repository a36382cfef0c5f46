package nippy

import (
	"errors"
	"math/big"
)

// Thaw returns, and Freeze accepts, nil, bool, int64, float64, string and []byte for the
// corresponding Clojure values, []any for sequential values (vectors, lists, seqs, queues, arrays),
// time.Time for dates and instants, *big.Int and *big.Rat for big integers and ratios, float32, and
// the types below.
type (
	Keyword string // without the colon
	Symbol  string
	Char    rune
	Set     []any
	Map     []Entry // in the order in which it was frozen
	Entry   struct{ Key, Value any }
	UUID    [16]byte
	URI     string
	Pattern string // a Java regular expression
	// Decimal is Unscaled·10^-Scale.
	Decimal struct {
		Unscaled *big.Int
		Scale    int32
	}
	Duration struct {
		Seconds int64
		Nanos   int32
	}
	Period struct{ Years, Months, Days int32 }
	Record struct {
		Class  string
		Fields any
	}
)

var (
	// ErrUnsupported is wrapped if the data is valid, but contains a value that this package cannot
	// read or JSON cannot represent.
	ErrUnsupported = errors.New("not supported")
	// ErrMalformed is wrapped if the data is not valid Nippy, or exceeds a bound.
	ErrMalformed = errors.New("malformed")
)
