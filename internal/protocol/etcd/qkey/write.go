package qkey

import "strconv"

// indexDigits is the number of digits of an index, so that keys sort like messages in the queue.
const indexDigits = 20

// AppendIndex appends an index in the form used in keys.
func AppendIndex(dst []byte, index uint64) []byte {
	var buf [indexDigits]byte
	digits := strconv.AppendUint(buf[:0], index, 10)
	for n := len(digits); n < indexDigits; n++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// parseIndex parses an index with or without leading zeros.
func parseIndex(b []byte) (n uint64, ok bool) {
	if len(b) == 0 || len(b) > indexDigits {
		return 0, false
	}
	for _, c := range b {
		d := uint64(c) - '0'
		if d > 9 || n > (1<<64-1-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, n > 0
}

// AppendMessage appends the part of a message's key after the queue or consumer: its index and its
// message key.
func AppendMessage(dst []byte, index uint64, tail []byte) []byte {
	return append(append(AppendIndex(append(dst, '/'), index), '/'), tail...)
}

// AppendName appends the name of a queue or of a client as one segment.
func AppendName[S ~string | ~[]byte](dst []byte, name S) []byte {
	for i := range len(name) {
		if c := name[i]; c == '/' || c == '%' {
			dst = append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

const hexDigits = "0123456789ABCDEF"

// unescape returns the name that a segment encodes. A percent sign without a valid escape is kept.
func unescape(segment []byte) []byte {
	at := 0
	for at < len(segment) && segment[at] != '%' {
		at++
	}
	if at == len(segment) {
		return segment
	}
	name := append(make([]byte, 0, len(segment)), segment[:at]...)
	for ; at < len(segment); at++ {
		c := segment[at]
		if c == '%' && at+2 < len(segment) {
			if hi, lo := unhex(segment[at+1]), unhex(segment[at+2]); hi < 16 && lo < 16 {
				c = hi<<4 | lo
				at += 2
			}
		}
		name = append(name, c)
	}
	return name
}

// unhex returns the value of a hexadecimal digit, or 16 for any other byte.
func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 16
}
