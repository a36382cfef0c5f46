package glob

// Match reports whether a pattern matches all of s. As in Redis, the pattern * does not match an
// empty s.
func Match(pattern, s string) bool {
	ok, _ := from(pattern, s)
	return ok
}

// from is Match, and giveUp reports that a * has tried all of the rest of s, so that earlier stars
// need not try further.
func from(p, s string) (ok, giveUp bool) {
	for len(p) > 0 && len(s) > 0 {
		switch p[0] {
		case '*':
			for len(p) > 1 && p[1] == '*' {
				p = p[1:]
			}
			if len(p) == 1 {
				return true, false
			}
			for ; len(s) > 0; s = s[1:] {
				if ok, giveUp := from(p[1:], s); ok || giveUp {
					return ok, giveUp
				}
			}
			return false, true
		case '?':
			p = p[1:]
		case '[':
			in, rest := class(p[1:], s[0])
			if !in {
				return false, false
			}
			p = rest
		default:
			if p[0] == '\\' && len(p) > 1 {
				p = p[1:]
			}
			if p[0] != s[0] {
				return false, false
			}
			p = p[1:]
		}
		if s = s[1:]; len(s) == 0 {
			for len(p) > 0 && p[0] == '*' {
				p = p[1:]
			}
		}
	}
	return len(p) == 0 && len(s) == 0, false
}

// class reports whether c is in the class at the beginning of p, and returns the rest of the
// pattern. An unclosed class extends to the end.
func class(p string, c byte) (in bool, rest string) {
	not := len(p) > 0 && p[0] == '^'
	if not {
		p = p[1:]
	}
	for len(p) > 0 && p[0] != ']' {
		switch {
		case p[0] == '\\' && len(p) > 1:
			in = in || p[1] == c
			p = p[2:]
		case len(p) > 2 && p[1] == '-':
			from, to := min(p[0], p[2]), max(p[0], p[2])
			in = in || from <= c && c <= to
			p = p[3:]
		default:
			in = in || p[0] == c
			p = p[1:]
		}
	}
	if len(p) > 0 {
		p = p[1:]
	}
	return in != not, p
}

// Prefix returns the literal prefix of a pattern; whole reports that the pattern matches only this
// name.
func Prefix(pattern string) (prefix string, whole bool) {
	b := make([]byte, 0, len(pattern))
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*' || c == '?' || c == '[':
			return string(b), false
		case c == '\\' && i+1 < len(pattern):
			i++
			fallthrough
		default:
			b = append(b, pattern[i])
		}
	}
	return string(b), true
}

// Literal returns the pattern that matches only this name.
func Literal(name string) string {
	b := make([]byte, 0, len(name))
	for i := range len(name) {
		switch name[i] {
		case '*', '?', '[', '\\':
			b = append(b, '\\')
		}
		b = append(b, name[i])
	}
	return string(b)
}
