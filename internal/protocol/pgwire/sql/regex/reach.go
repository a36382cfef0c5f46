package regex

import (
	"slices"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
)

// maxSteps is the number of positions examined before matching fails: about a second.
const maxSteps = 20_000_000

// matcher matches one text. Positions are between characters: 0 is before the first character.
type matcher struct {
	p       *Pattern
	s       string
	text    []rune
	offsets []int // byte offsets in s of the positions
	groups  []int // start and end positions of the match and its groups; -1 if unmatched
	starts  []int // positions where matches can begin, sorted; computed on demand
	known   bool  // starts is computed
	looks   map[*node][]bool
	steps   int
	marks   []*marks // free sets for reuse
}

func (p *Pattern) matcher(s string) *matcher {
	m := &matcher{p: p, s: s, text: make([]rune, 0, len(s)), offsets: make([]int, 0, len(s)+1)}
	m.groups = slices.Repeat([]int{-1}, 2*len(p.groups)+2)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		m.text, m.offsets = append(m.text, r), append(m.offsets, i)
		i += size
	}
	m.offsets = append(m.offsets, len(s))
	return m
}

// marks is a set of positions that can be cleared in constant time.
type marks struct {
	at      []uint32
	current uint32
}

// add adds a position and reports whether it was new.
func (m *marks) add(place int) bool {
	if m.at[place] == m.current {
		return false
	}
	m.at[place] = m.current
	return true
}

func (m *matcher) newMarks() *marks {
	if n := len(m.marks); n > 0 {
		one := m.marks[n-1]
		m.marks = m.marks[:n-1]
		one.current++
		return one
	}
	return &marks{at: make([]uint32, len(m.text)+1), current: 1}
}

func (m *matcher) free(one *marks) { m.marks = append(m.marks, one) }

// spent counts steps. It returns true once there are too many; results are invalid then.
func (m *matcher) spent(n int) bool {
	m.steps += n
	return m.steps > maxSteps
}

// everywhere returns all positions.
func (m *matcher) everywhere() []int {
	all := make([]int, len(m.text)+1)
	for i := range all {
		all[i] = i
	}
	return all
}

// reach returns the positions where a match of n that begins at one of from can end. If back is
// set, it returns the positions where a match that ends at one of from can begin. The result has no
// duplicates. A back reference matches whatever its group could match.
func (m *matcher) reach(n *node, from []int, back bool) []int {
	if len(from) == 0 || m.spent(len(from)+1) {
		return nil
	}
	switch n.kind {
	case char:
		return m.characters(n.set, from, back)
	case border, look:
		return m.hold(n, from)
	case cat:
		for i := range n.kids {
			if back {
				i = len(n.kids) - 1 - i
			}
			from = m.reach(n.kids[i], from, back)
		}
		return from
	case alt:
		return m.either(n.kids, from, back)
	case repeat, backref:
		return m.repeated(n, from, back)
	case group:
		return m.reach(n.kids[0], from, back)
	}
	return from
}

func (m *matcher) characters(s set, from []int, back bool) []int {
	to := make([]int, 0, len(from))
	for _, place := range from {
		switch {
		case back && place > 0 && s.has(m.text[place-1]):
			to = append(to, place-1)
		case !back && place < len(m.text) && s.has(m.text[place]):
			to = append(to, place+1)
		}
	}
	return to
}

func (m *matcher) hold(n *node, from []int) []int {
	to := make([]int, 0, len(from))
	for _, place := range from {
		if m.holds(n, place) {
			to = append(to, place)
		}
	}
	return to
}

func (m *matcher) either(kids []*node, from []int, back bool) []int {
	seen := m.newMarks()
	defer m.free(seen)
	var to []int
	for _, kid := range kids {
		for _, place := range m.reach(kid, from, back) {
			if seen.add(place) {
				to = append(to, place)
			}
		}
	}
	return to
}

// repeated applies the kid min times, and then repeats from new positions until there are none or
// max is reached.
func (m *matcher) repeated(n *node, from []int, back bool) []int {
	kid := n.kids[0]
	for range n.min {
		from = m.reach(kid, from, back)
	}
	seen := m.newMarks()
	defer m.free(seen)
	all := from[:len(from):len(from)]
	for _, place := range from {
		seen.add(place)
	}
	for more := n.max - n.min; more != 0 && len(from) > 0 || n.max == endless && len(from) > 0; more-- {
		var next []int
		for _, place := range m.reach(kid, from, back) {
			if seen.add(place) {
				next = append(next, place)
			}
		}
		all, from = append(all, next...), next
	}
	return all
}

// holds reports whether the assertion n holds at a position.
func (m *matcher) holds(n *node, place int) bool {
	if n.kind == look {
		return m.looked(n)[place] != n.denied
	}
	before := place > 0 && isWord(m.text[place-1])
	after := place < len(m.text) && isWord(m.text[place])
	switch n.place {
	case '^', 'A':
		return place == 0
	case '$', 'Z':
		return place == len(m.text)
	case '<':
		return place == 0 || m.text[place-1] == '\n'
	case '>':
		return place == len(m.text) || m.text[place] == '\n'
	case 'y':
		return before != after
	case 'Y':
		return before == after
	case 'm':
		return !before && after
	}
	return before && !after // M
}

// looked returns, for all positions, whether the kid matches from there, or up to there for a
// look-behind.
func (m *matcher) looked(n *node) []bool {
	if known, ok := m.looks[n]; ok {
		return known
	}
	all := make([]bool, len(m.text)+1)
	for _, place := range m.reach(n.kids[0], m.everywhere(), !n.behind) {
		all[place] = true
	}
	if m.looks == nil {
		m.looks = map[*node][]bool{}
	}
	m.looks[n] = all
	return all
}

// same reports whether two parts of the text are equal, ignoring case if fold is set.
func (m *matcher) same(a, b []rune) bool {
	for i, r := range a {
		if r != b[i] && !(m.p.fold && pgtext.LowerRune(r) == pgtext.LowerRune(b[i])) {
			return false
		}
	}
	return true
}
