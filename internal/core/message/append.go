package message

import "encoding/binary"

// MaxShortStr is the maximum length in bytes of a name, key or string property, because their
// length is one octet.
const MaxShortStr = 255

// AppendShortStr appends s as a short string. s must have at most MaxShortStr bytes; the protocols
// check this when a text enters the broker.
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
