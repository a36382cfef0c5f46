package regex

import "slices"

// find finds the first match that begins at position from or later. It stores the positions of the
// match and its groups in m.groups.
func (m *matcher) find(from int) bool {
	if !m.known {
		m.starts, m.known = m.reach(m.p.root, m.everywhere(), true), true
		slices.Sort(m.starts)
	}
	first, _ := slices.BinarySearch(m.starts, from)
	for _, begin := range m.starts[first:] {
		for _, end := range m.ends(m.p.root, begin) {
			m.forget(m.p.root)
			if m.dissect(m.p.root, begin, end) {
				m.groups[0], m.groups[1] = begin, end
				return true
			}
		}
	}
	return false
}

// ends returns the positions where a match of n that begins at begin can end, in n's order of
// preference.
func (m *matcher) ends(n *node, begin int) []int {
	all := m.reach(n, []int{begin}, false)
	slices.Sort(all)
	if n.flags&shorter == 0 {
		slices.Reverse(all)
	}
	return all
}

// reaches reports whether n matches the text from begin to end.
func (m *matcher) reaches(n *node, begin, end int) bool {
	return slices.Contains(m.reach(n, []int{begin}, false), end)
}

// forget clears the groups in n.
func (m *matcher) forget(n *node) {
	if n.kind == group {
		m.groups[2*n.number], m.groups[2*n.number+1] = -1, -1
	}
	if n.flags&hasGroup != 0 && n.kind != backref {
		for _, kid := range n.kids {
			m.forget(kid)
		}
	}
}

// dissect determines what the groups in n match if n matches the text from begin to end. It reports
// whether the back references agree.
func (m *matcher) dissect(n *node, begin, end int) bool {
	if m.spent(1) {
		return false
	}
	if n.whole {
		return true
	}
	switch n.kind {
	case cat:
		return m.cut(n.kids[0], n.kids[1], begin, end)
	case alt:
		for _, kid := range n.kids {
			if m.reaches(kid, begin, end) && m.dissect(kid, begin, end) {
				return true
			}
		}
		return false
	case group:
		if !m.dissect(n.kids[0], begin, end) {
			return false
		}
		m.groups[2*n.number], m.groups[2*n.number+1] = begin, end
	case repeat:
		return m.iterate(n, begin, end)
	case backref:
		return m.refer(n, begin, end)
	}
	return true
}

// cut finds the position where a ends and b begins.
func (m *matcher) cut(a, b *node, begin, end int) bool {
	to := m.reach(b, []int{end}, true)
	if len(to) == 0 {
		return false
	}
	slices.Sort(to)
	for _, middle := range m.ends(a, begin) {
		if _, ok := slices.BinarySearch(to, middle); !ok {
			continue
		}
		if m.dissect(a, begin, middle) && m.dissect(b, middle, end) {
			return true
		}
		m.forget(a)
		m.forget(b)
	}
	return false
}

// refer reports whether the text from begin to end consists of the required number of copies of a
// group's match.
func (m *matcher) refer(n *node, begin, end int) bool {
	from, to := m.groups[2*n.number], m.groups[2*n.number+1]
	if from < 0 {
		return false
	}
	if from == to {
		return begin == end
	}
	length := to - from
	times := (end - begin) / length
	if (end-begin)%length != 0 || times < n.min || n.max != endless && times > n.max {
		return false
	}
	for ; begin < end; begin += length {
		if !m.same(m.text[from:to], m.text[begin:begin+length]) {
			return false
		}
	}
	return true
}

// iterate splits the text into matches of the kid. An empty match is preferred to none, unless the
// kid is non-greedy.
func (m *matcher) iterate(n *node, begin, end int) bool {
	idle := n.min == 0 && begin == end
	if idle && n.kids[0].flags&shorter != 0 {
		return true
	}
	i := iteration{m: m, n: n, begin: begin, end: end, min: max(n.min, 1), max: end - begin, live: map[int]bool{}}
	if n.max != endless {
		i.max = min(i.max, n.max)
	}
	i.max = max(i.max, i.min)
	many := &node{kind: repeat, kids: n.kids, max: endless}
	for _, place := range m.reach(many, []int{end}, true) {
		i.live[place] = true
	}
	if i.from(begin, 1) {
		return true
	}
	m.forget(n)
	return idle
}

// iteration is the state of iterate. live holds the positions from which the end can be reached.
type iteration struct {
	m          *matcher
	n          *node
	begin, end int
	min, max   int
	live       map[int]bool
	cuts       []int // the ends of the matches so far
}

// from looks for match number k, which begins at place. Before the end, an empty match counts only
// if min requires it.
func (i *iteration) from(place, k int) bool {
	kid := i.n.kids[0]
	if i.m.spent(1) {
		return false
	}
	for _, next := range i.m.ends(kid, place) {
		idle := next == place && next != i.end && (k >= i.min || i.min-k < i.end-place)
		if !i.live[next] || idle {
			continue
		}
		i.cuts = append(i.cuts, next)
		switch {
		case next == i.end: // PostgreSQL stops here, even if min is not reached yet
			if k >= i.min && i.verify() {
				return true
			}
		case k < i.max && i.from(next, k+1):
			return true
		}
		i.cuts = i.cuts[:len(i.cuts)-1]
	}
	return false
}

// verify dissects the matches between the cuts.
func (i *iteration) verify() bool {
	begin := i.begin
	for _, cut := range i.cuts {
		i.m.forget(i.n.kids[0])
		if !i.m.dissect(i.n.kids[0], begin, cut) {
			return false
		}
		begin = cut
	}
	return true
}
