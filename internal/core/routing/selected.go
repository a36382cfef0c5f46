package routing

import "slices"

// selected holds the bindings of one exchange with the same condition in a matcher of their own, so
// that the condition is evaluated once for all of them.
type selected struct {
	by       *condition // shared by all of the bindings
	bindings int        // at least 1
	matcher  matcher
}

// add adds a binding to its matcher, in an exchange that is not published yet.
func (x *Exchange) add(b *Binding, others siblings) {
	x.bindings++
	if b.condition == nil {
		x.matcher = x.matcher.add(b, others)
		return
	}
	i := x.selectedBy(b.condition)
	x.selected = slices.Clone(x.selected)
	if i < 0 {
		i = len(x.selected)
		matcher, _ := newMatcher(&x.Spec) // cannot fail: the exchange already has one
		x.selected = append(x.selected, selected{by: b.condition, matcher: matcher})
	}
	s := &x.selected[i]
	s.bindings++
	s.matcher = s.matcher.add(b, others)
}

// remove is the inverse of add.
func (x *Exchange) remove(b *Binding, others siblings) {
	x.bindings--
	if b.condition == nil {
		x.matcher = x.matcher.remove(b, others)
		return
	}
	i := x.selectedBy(b.condition)
	x.selected = slices.Clone(x.selected)
	s := &x.selected[i]
	s.bindings--
	s.matcher = s.matcher.remove(b, others)
	if s.bindings > 0 {
		return
	}
	x.selected = slices.Delete(x.selected, i, i+1)
	if len(x.selected) == 0 {
		x.selected = nil
	}
}

func (x *Exchange) selectedBy(c *condition) int {
	return slices.IndexFunc(x.selected, func(have selected) bool { return have.by == c })
}

// matchSelected finds the destinations among the bindings with conditions.
func (x *Exchange) matchSelected(m *Message, r *Route) {
	for i := range x.selected {
		if s := &x.selected[i]; s.by.match(m) {
			r.apart = m.Apart && s.by.copies
			s.matcher.match(m, r)
			r.apart = false
		}
	}
}
