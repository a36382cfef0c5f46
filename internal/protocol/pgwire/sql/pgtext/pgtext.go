// Package pgtext implements case mapping and Unicode character classes as in a PostgreSQL database
// with the locale C.UTF-8, where they come from glibc. Case mapping is one to one: ß does not
// become SS, and the final sigma of a Greek word has no special form.
//
// The Unicode versions of glibc and Go may differ, which affects only recently added characters.
package pgtext

import (
	"strings"
	"unicode"
)

// Lower returns s in lower case.
func Lower(s string) string { return mapped(s, unicode.ToLower) }

// Upper returns s in upper case.
func Upper(s string) string { return mapped(s, unicode.ToUpper) }

// LowerRune returns r in lower case.
func LowerRune(r rune) rune { return unicode.ToLower(r) }

// UpperRune returns r in upper case.
func UpperRune(r rune) rune { return unicode.ToUpper(r) }

// mapped maps characters. It leaves bytes that are not valid UTF-8 unchanged.
func mapped(s string, to func(rune) rune) string {
	for i, r := range s {
		if to(r) != r {
			return changed(s, i, to)
		}
	}
	return s
}

func changed(s string, from int, to func(rune) rune) string {
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:from])
	for i, r := range s[from:] {
		if r == unicode.ReplacementChar && s[from+i] != "\uFFFD"[0] {
			b.WriteByte(s[from+i])
			continue
		}
		b.WriteRune(to(r))
	}
	return b.String()
}

// Initcap returns s with the first letter of every word in upper case and the others in lower case.
func Initcap(s string) string {
	inWord := false
	return changed(s, 0, func(r rune) rune {
		if inWord {
			r = unicode.ToLower(r)
		} else {
			r = unicode.ToUpper(r)
		}
		inWord = IsAlnum(r)
		return r
	})
}

// IsAlpha reports whether r is a letter. As in glibc, that includes marks that belong to letters,
// and digits of other scripts.
func IsAlpha(r rune) bool {
	return unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_Alphabetic) || unicode.Is(unicode.Nd, r) && !IsDigit(r)
}

// IsDigit reports whether r is one of 0 to 9.
func IsDigit(r rune) bool { return r >= '0' && r <= '9' }

// IsAlnum reports whether r is a letter or a digit.
func IsAlnum(r rune) bool { return IsAlpha(r) || IsDigit(r) }

// IsLower reports whether r is a lower-case letter.
func IsLower(r rune) bool {
	return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) || unicode.ToUpper(r) != r
}

// IsUpper reports whether r is an upper-case letter. Title-case letters such as ǅ are both lower
// and upper case.
func IsUpper(r rune) bool {
	return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) || unicode.ToLower(r) != r
}

// IsSpace reports whether r is white space, except for no-break spaces.
func IsSpace(r rune) bool {
	return r >= '\t' && r <= '\r' || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Zs, r) && !unbroken(r)
}

// IsBlank reports whether r is a space within a line, except for no-break spaces.
func IsBlank(r rune) bool { return r == '\t' || unicode.Is(unicode.Zs, r) && !unbroken(r) }

func unbroken(r rune) bool { return r == 0xA0 || r == 0x2007 || r == 0x202F }

// IsControl reports whether r is a control character.
func IsControl(r rune) bool { return unicode.Is(unicode.Cc, r) || r == 0x2028 || r == 0x2029 }

// IsPrint reports whether r is a printable character or a space.
func IsPrint(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs, unicode.Cf, unicode.Co)
}

// IsGraph reports whether r is a visible character.
func IsGraph(r rune) bool { return IsPrint(r) && !IsSpace(r) }

// IsPunct reports whether r is visible and neither a letter nor a digit.
func IsPunct(r rune) bool { return IsGraph(r) && !IsAlnum(r) }

// IsHexDigit reports whether r is a hexadecimal digit.
func IsHexDigit(r rune) bool { return IsDigit(r) || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F' }
