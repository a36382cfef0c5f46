// Package pgtext implements case mapping and character classes of Unicode as PostgreSQL has them in
// a database with the locale C.UTF-8, where they come from glibc. Upper and lower case map one
// character to one character: ß does not become SS, and the last sigma of a Greek word gets no
// final form.
//
// glibc and Go may have different versions of Unicode. This shows only in recently added
// characters.
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

// mapped changes characters; bytes that are no UTF-8 stay as they are.
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

// IsAlpha reports whether r is a letter. Marks that belong to letters and the digits of other
// scripts than ours are letters, too.
func IsAlpha(r rune) bool {
	return unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_Alphabetic) || unicode.Is(unicode.Nd, r) && !IsDigit(r)
}

// IsDigit reports whether r is one of 0 to 9.
func IsDigit(r rune) bool { return r >= '0' && r <= '9' }

// IsAlnum reports whether r is a letter or a digit.
func IsAlnum(r rune) bool { return IsAlpha(r) || IsDigit(r) }

// IsLower reports whether r is a small letter.
func IsLower(r rune) bool {
	return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) || unicode.ToUpper(r) != r
}

// IsUpper reports whether r is a capital letter. The letters for titles, ǅ say, are both small and
// capital.
func IsUpper(r rune) bool {
	return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) || unicode.ToLower(r) != r
}

// IsSpace reports whether r is white space. A space that forbids a new line is none.
func IsSpace(r rune) bool {
	return r >= '\t' && r <= '\r' || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Zs, r) && !unbroken(r)
}

// IsBlank reports whether r is a space within a line.
func IsBlank(r rune) bool { return r == '\t' || unicode.Is(unicode.Zs, r) && !unbroken(r) }

func unbroken(r rune) bool { return r == 0xA0 || r == 0x2007 || r == 0x202F }

// IsControl reports whether r is a control character.
func IsControl(r rune) bool { return unicode.Is(unicode.Cc, r) || r == 0x2028 || r == 0x2029 }

// IsPrint reports whether r is a character that can be printed, a space included.
func IsPrint(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs, unicode.Cf, unicode.Co)
}

// IsGraph reports whether r is a character that shows.
func IsGraph(r rune) bool { return IsPrint(r) && !IsSpace(r) }

// IsPunct reports whether r shows and is no letter and no digit.
func IsPunct(r rune) bool { return IsGraph(r) && !IsAlnum(r) }

// IsHexDigit reports whether r is a hexadecimal digit.
func IsHexDigit(r rune) bool { return IsDigit(r) || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F' }
