package charset

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// exceptionLines lists where the tables of PostgreSQL 15 differ from x/text, one run of characters
// a line: the encoding, the direction, the first character of the run, the length, and what the
// first character converts to; 0 means nothing. Numbers are hexadecimal. TestTables generates the
// file.
//
//go:embed exceptions.txt
var exceptionLines string

// exceptions holds the exceptions of one encoding.
type exceptions struct {
	decode map[uint32]rune // 0: no character
	encode map[rune]uint32 // 0: not representable
}

// The directions of exceptions.
const (
	decoding = "<"
	encoding = ">"
)

// allExceptions maps encoding names to their exceptions.
var allExceptions = sync.OnceValue(func() map[string]exceptions {
	all := map[string]exceptions{}
	for line := range strings.Lines(exceptionLines) {
		var name, direction string
		var from, count, to uint32
		if _, err := fmt.Sscanf(line, "%s %s %x %x %x", &name, &direction, &from, &count, &to); err != nil {
			panic(err) // the file is embedded
		}
		e, ok := all[name]
		if !ok {
			e = exceptions{map[uint32]rune{}, map[rune]uint32{}}
			all[name] = e
		}
		for i := range count {
			at := to
			if to != 0 {
				at += i
			}
			switch direction {
			case decoding:
				e.decode[from+i] = rune(at)
			default:
				e.encode[rune(from+i)] = at
			}
		}
	}
	return all
})

// code is the bytes of a character as one number.
func code(b []byte) (n uint32) {
	for _, c := range b {
		n = n<<8 | uint32(c)
	}
	return n
}

// appendCode adds the bytes of code n.
func appendCode(dst []byte, n uint32) []byte {
	for shift := 24; shift >= 0; shift -= 8 {
		if c := byte(n >> shift); c != 0 {
			dst = append(dst, c)
		}
	}
	return dst
}
