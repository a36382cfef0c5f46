package nippy

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"time"
)

// Freeze encodes a value with a header and without compression. Nippy 2.12 and later thaw it to the
// same value. It accepts the types that Thaw returns, and int. Its errors wrap ErrUnsupported.
func Freeze(v any) ([]byte, error) {
	b, err := appendValue([]byte("NPY\x00"), v, 0)
	if err != nil {
		return nil, err
	}
	return b, nil
}

func appendValue(b []byte, v any, depth int) ([]byte, error) {
	if depth >= maxDepth {
		return nil, fmt.Errorf("nippy: %w: more than %d levels", ErrUnsupported, maxDepth)
	}
	switch v := v.(type) {
	case []any:
		return appendAll(counted(b, 21, len(v)), v, depth)
	case Set:
		return appendAll(counted(b, 23, len(v)), v, depth)
	case Map:
		b = counted(b, 30, len(v))
		for _, e := range v {
			var err error
			if b, err = appendAll(b, []any{e.Key, e.Value}, depth); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	return appendScalar(b, v)
}

func appendAll(b []byte, all []any, depth int) (_ []byte, err error) {
	for _, v := range all {
		if b, err = appendValue(b, v, depth+1); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// counted appends a type and a count of four bytes.
func counted(b []byte, id byte, n int) []byte {
	return binary.BigEndian.AppendUint32(append(b, id), uint32(n))
}

func appendScalar(b []byte, v any) ([]byte, error) {
	long := func(id byte, n uint64) []byte { return binary.BigEndian.AppendUint64(append(b, id), n) }
	switch v := v.(type) {
	case nil:
		return append(b, 3), nil
	case bool:
		if v {
			return append(b, 8), nil
		}
		return append(b, 9), nil
	case int:
		return long(43, uint64(v)), nil
	case int64:
		return long(43, uint64(v)), nil
	case float32:
		return binary.BigEndian.AppendUint32(append(b, 60), math.Float32bits(v)), nil
	case float64:
		return long(61, math.Float64bits(v)), nil
	case string:
		return append(counted(b, 13, len(v)), v...), nil
	case []byte:
		return append(counted(b, 2, len(v)), v...), nil
	case Keyword:
		if len(v) <= math.MaxInt8 {
			return append(append(b, 106, byte(len(v))), v...), nil
		}
		return append(counted(b, 14, len(v)), v...), nil
	case Symbol:
		return append(counted(b, 57, len(v)), v...), nil
	case Char:
		if v < 0 || v > math.MaxUint16 {
			return nil, fmt.Errorf("nippy: %w: a character of two units", ErrUnsupported)
		}
		return binary.BigEndian.AppendUint16(append(b, 10), uint16(v)), nil
	case *big.Int:
		return appendBig(append(b, 44), v), nil
	case Decimal:
		return binary.BigEndian.AppendUint32(appendBig(append(b, 62), v.Unscaled), uint32(v.Scale)), nil
	case *big.Rat:
		return appendBig(appendBig(append(b, 70), v.Num()), v.Denom()), nil
	case time.Time:
		return long(90, uint64(v.UnixMilli())), nil
	case UUID:
		return append(append(b, 91), v[:]...), nil
	}
	return nil, fmt.Errorf("nippy: %w: freeze a %T", ErrUnsupported, v)
}

// appendBig appends a number in the format of Java's BigInteger: two's complement, with room for
// the sign.
func appendBig(b []byte, n *big.Int) []byte {
	size := n.BitLen()/8 + 1
	m := n
	if n.Sign() < 0 {
		m = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(size))
	return append(b, m.FillBytes(make([]byte, size))...)
}
