package hstore

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"unicode/utf8"
)

// The errors of ParseBinary.
var (
	ErrTruncated = errors.New("hstore: insufficient data left in message")
	ErrTrailing  = errors.New("hstore: incorrect binary data format")
	ErrCount     = errors.New("hstore: negative number of pairs")
	ErrNullKey   = errors.New("hstore: null value not allowed for hstore key")
)

// TextError is a key or a value that is not UTF-8 or contains a NUL.
type TextError string

func (TextError) Error() string { return "hstore: text is not UTF-8 or holds a NUL" }

const minPairBytes = 8 // two lengths

// ParseBinary parses the binary form: the number of pairs, then for each pair the length and bytes
// of its key and of its value (length -1: NULL). The result does not alias b.
func ParseBinary(b []byte) (Map, error) {
	n, rest, err := length(string(b))
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, ErrCount
	}
	if int64(n)*minPairBytes > int64(len(rest)) {
		return nil, ErrTruncated
	}
	pairs := make([]Pair, n)
	for i := range pairs {
		var null bool
		if pairs[i].Key, null, rest, err = text(rest); err != nil {
			return nil, err
		}
		if null {
			return nil, ErrNullKey
		}
		if pairs[i].Value, pairs[i].Null, rest, err = text(rest); err != nil {
			return nil, err
		}
	}
	if rest != "" {
		return nil, ErrTrailing
	}
	return New(pairs), nil
}

func length(s string) (n int32, rest string, err error) {
	if len(s) < 4 {
		return 0, "", ErrTruncated
	}
	return int32(uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])), s[4:], nil
}

func text(s string) (t string, null bool, rest string, err error) {
	n, s, err := length(s)
	switch {
	case err != nil:
		return "", false, "", err
	case n < 0:
		return "", true, s, nil
	case int64(n) > int64(len(s)):
		return "", false, "", ErrTruncated
	}
	t = s[:n]
	if !utf8.ValidString(t) || strings.IndexByte(t, 0) >= 0 {
		return "", false, "", TextError(t)
	}
	return t, false, s[n:], nil
}

// AppendBinary appends the binary form.
func (m Map) AppendBinary(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(m)))
	for _, p := range m {
		dst = appendText(dst, p.Key)
		if p.Null {
			dst = binary.BigEndian.AppendUint32(dst, math.MaxUint32)
		} else {
			dst = appendText(dst, p.Value)
		}
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
}
