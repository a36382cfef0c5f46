package nippy

import (
	"errors"
	"math/big"
)

// Thaw gives, and Freeze takes, nil, bool, int64, float64, string and []byte for what they are in
// Clojure, []any for what is in order (vectors, lists, seqs, queues, arrays), time.Time for dates
// and instants, *big.Int and *big.Rat for big integers and ratios, float32, and these.
type (
	Keyword string // without its colon
	Symbol  string
	Char    rune
	Set     []any
	Map     []Entry // in the order in which it was frozen
	Entry   struct{ Key, Value any }
	UUID    [16]byte
	URI     string
	Pattern string // a regular expression of Java
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
	// ErrUnsupported is wrapped where bytes are Nippy's, and hold what this package does not read
	// or JSON cannot say.
	ErrUnsupported = errors.New("not supported")
	// ErrMalformed is wrapped where bytes are not what Nippy writes, or pass a bound.
	ErrMalformed = errors.New("malformed")
)
