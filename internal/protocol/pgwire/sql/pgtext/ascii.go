package pgtext

// IsUpperASCII reports whether c is an ASCII upper-case letter. Format keywords and the names of
// units and encodings are ASCII.
func IsUpperASCII(c byte) bool { return c >= 'A' && c <= 'Z' }

// IsLowerASCII reports whether c is an ASCII lower-case letter.
func IsLowerASCII(c byte) bool { return c >= 'a' && c <= 'z' }

// IsAlnumASCII reports whether c is an ASCII letter or digit.
func IsAlnumASCII(c byte) bool { return IsUpperASCII(c) || IsLowerASCII(c) || c >= '0' && c <= '9' }

func mapASCII(s string, f func(c byte) byte) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = f(c)
	}
	return string(b)
}

// Spaces are the characters that C's isspace() accepts, which may surround most values.
const Spaces = " \t\n\v\f\r"

// AllDigits reports whether s has only the digits 0 to 9, at least one.
func AllDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// LowerASCII returns s with its ASCII letters in lower case. SQL's lower() is Lower.
func LowerASCII(s string) string {
	return mapASCII(s, func(c byte) byte {
		if IsUpperASCII(c) {
			return c + 'a' - 'A'
		}
		return c
	})
}

// UpperASCII returns s with its ASCII letters in upper case. SQL's upper() is Upper.
func UpperASCII(s string) string {
	return mapASCII(s, func(c byte) byte {
		if IsLowerASCII(c) {
			return c - ('a' - 'A')
		}
		return c
	})
}

// RuneOffset returns the byte offset of character n (from 0), or len(s) if s has fewer characters.
func RuneOffset(s string, n int) int {
	if n <= 0 {
		return 0
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
