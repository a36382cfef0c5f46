package message

import "encoding/binary"

// MaxShortStr is the longest name, key or string property in bytes: their length is one octet.
const MaxShortStr = 255

// AppendShortStr appends s as a short string. Invariant: s has at most MaxShortStr bytes; what
// enters the broker is checked at its edge.
func AppendShortStr[S ~string | ~[]byte](dst []byte, s S) []byte {
	if len(s) > MaxShortStr {
		panic("message: short string of more than 255 bytes")
	}
	dst = append(dst, byte(len(s)))
	return append(dst, s...)
}

// AppendLongStr appends s as a long string.
func AppendLongStr[S ~string | ~[]byte](dst []byte, s S) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(s)))
	return append(dst, s...)
}
