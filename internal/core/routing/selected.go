package routing

import (
	"slices"

	"fiveways/internal/core/message"
	"fiveways/internal/core/selector"
)

// selectorArg is the argument of a binding that holds a condition on top of what the exchange's type asks for.
const selectorArg = "x-selector"

// selected are the bindings of one exchange that have the same selector, in a matcher of their own: the selector is tried once for all of them.
type selected struct {
	by       *selector.Selector // every one of the bindings points at it
	bindings int                // at least 1
	matcher  matcher
}

// selectorOf returns the selector that the arguments of a new binding hold, nil if they hold none. The error is an ErrInvalidBinding.
func (x *Exchange) selectorOf(b *Binding) (*selector.Selector, error) {
	arg, ok := b.Args.Get(selectorArg)
	if !ok {
		return nil, nil
	}
	refuse := func(reason string) (*selector.Selector, error) {
		return nil, &Error{ErrInvalidBinding, b.Source, "invalid arg '" + selectorArg + "' for binding: " + reason}
	}
	text, ok := arg.(string)
	if !ok {
		return refuse("expected longstr, got " + message.TypeName(arg))
	}
	for _, s := range x.selected {
		if s.by.String() == text {
			return s.by, nil
		}
	}
	s, err := selector.Compile(text)
	if err != nil {
		return refuse(err.Error())
	}
	return s, nil
}

// add puts a binding into the matcher it belongs to, in an exchange that is not published yet.
func (x *Exchange) add(b *Binding, others siblings) {
	x.bindings++
	if b.selector == nil {
		x.matcher = x.matcher.add(b, others)
		return
	}
	i := x.selectedBy(b.selector)
	x.selected = slices.Clone(x.selected)
	if i < 0 {
		i = len(x.selected)
		matcher, _ := newMatcher(&x.Spec) // the exchange has one, so nothing can be wrong
		x.selected = append(x.selected, selected{by: b.selector, matcher: matcher})
	}
	s := &x.selected[i]
	s.bindings++
	s.matcher = s.matcher.add(b, others)
}

// remove is the opposite of add.
func (x *Exchange) remove(b *Binding, others siblings) {
	x.bindings--
	if b.selector == nil {
		x.matcher = x.matcher.remove(b, others)
		return
	}
	i := x.selectedBy(b.selector)
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

func (x *Exchange) selectedBy(s *selector.Selector) int {
	return slices.IndexFunc(x.selected, func(have selected) bool { return have.by == s })
}

// matchSelected finds the destinations among the bindings with selectors.
func (x *Exchange) matchSelected(m *Message, r *Route) {
	asked := selector.Message{Exchange: r.visited.list[0].Spec.Name, Key: view(m.Key), Props: m.Props}
	for i := range x.selected {
		if s := &x.selected[i]; s.by.MatchMessage(&asked) {
			s.matcher.match(m, r)
		}
	}
}
