package regex

import (
	"cmp"
	"slices"
	"sync"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
)

// span is the range of characters from lo to hi.
type span struct{ lo, hi rune }

// set is a set of characters: sorted spans that do not touch.
type set []span

// has reports whether r is in the set.
func (s set) has(r rune) bool {
	_, found := slices.BinarySearchFunc(s, r, func(one span, r rune) int {
		switch {
		case r < one.lo:
			return 1
		case r > one.hi:
			return -1
		}
		return 0
	})
	return found
}

// union returns the set of spans given in any order.
func union(spans []span) set {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	var s set
	for _, one := range spans {
		if n := len(s); n > 0 && one.lo <= s[n-1].hi+1 {
			s[n-1].hi = max(s[n-1].hi, one.hi)
			continue
		}
		s = append(s, one)
	}
	return s
}

// not returns the complement of s.
func (s set) not() set {
	var others set
	next := rune(0)
	for _, one := range s {
		if one.lo > next {
			others = append(others, span{next, one.lo - 1})
		}
		next = one.hi + 1
	}
	if next <= utf8.MaxRune {
		others = append(others, span{next, utf8.MaxRune})
	}
	return others
}

// folded adds the other cases of the characters of a span, up to PostgreSQL's limit.
func folded(one span) []span {
	const most = 100000
	spans := []span{one}
	for r := one.lo; r <= min(one.hi, one.lo+most-1); r++ {
		for _, other := range []rune{pgtext.LowerRune(r), pgtext.UpperRune(r)} {
			if other < one.lo || other > one.hi {
				spans = append(spans, span{other, other})
			}
		}
	}
	return spans
}

// bothCases returns a character in lower and upper case. A title-case letter is neither, so it does
// not match itself.
func bothCases(r rune) set {
	low, up := pgtext.LowerRune(r), pgtext.UpperRune(r)
	return union([]span{{low, low}, {up, up}})
}

// The last letter, except for private-use characters, and the last space or control character.
const (
	lastLetter = 0x323FF
	lastSpace  = 0x3000
)

// classes are the named classes. Each is computed once, by testing all characters.
var classes = map[string]func() set{
	"alpha": class(pgtext.IsAlpha, lastLetter), "alnum": class(pgtext.IsAlnum, lastLetter), "lower": class(pgtext.IsLower, lastLetter),
	"upper": class(pgtext.IsUpper, lastLetter), "word": class(isWord, lastLetter),
	"blank": class(pgtext.IsBlank, lastSpace), "space": class(pgtext.IsSpace, lastSpace), "cntrl": class(pgtext.IsControl, lastSpace),
	"digit": class(pgtext.IsDigit, utf8.RuneSelf), "xdigit": class(pgtext.IsHexDigit, utf8.RuneSelf),
	"ascii": class(func(r rune) bool { return r < utf8.RuneSelf }, utf8.RuneSelf),
	"graph": class(pgtext.IsGraph, utf8.MaxRune), "print": class(pgtext.IsPrint, utf8.MaxRune), "punct": class(pgtext.IsPunct, utf8.MaxRune),
}

func isWord(r rune) bool { return r == '_' || pgtext.IsAlnum(r) }

func class(is func(rune) bool, last rune) func() set {
	return sync.OnceValue(func() set {
		var s set
		for r := rune(1); r <= last; r++ {
			switch n := len(s); {
			case !is(r):
			case n > 0 && s[n-1].hi == r-1:
				s[n-1].hi = r
			default:
				s = append(s, span{r, r})
			}
		}
		return s
	})
}
