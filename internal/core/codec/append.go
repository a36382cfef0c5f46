package codec

import "encoding/binary"

// UvarintLen returns the length of v as an unsigned varint in bytes: one for every seven bits.
func UvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 { // most numbers are small, so this is faster than counting bits
		n++
	}
	return n
}

// AppendUvarints appends unsigned varints.
func AppendUvarints(dst []byte, values ...uint64) []byte {
	for _, v := range values {
		dst = binary.AppendUvarint(dst, v)
	}
	return dst
}

// UvarintsLen returns how many bytes AppendUvarints appends.
func UvarintsLen(values ...uint64) (n int) {
	for _, v := range values {
		n += UvarintLen(v)
	}
	return n
}

// AppendPrefixed appends bytes preceded by their length, a varint.
func AppendPrefixed[S ~string | ~[]byte](dst []byte, s S) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}
