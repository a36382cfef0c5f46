// Package list implements doubly linked lists whose elements hold their own links: an element is in
// at most one list, and adding or removing it allocates nothing.
package list

// Links holds an element's position in a list.
type Links[E any] struct {
	prev, next *E
	in         bool
}

// In reports whether the element is in a list.
func (l *Links[E]) In() bool { return l.in }

// element is a type with links.
type element[E any] interface {
	*E
	Links() *Links[E]
}

// List is a list of elements. The zero value is empty.
type List[E any, P element[E]] struct {
	first, last P
	n           int
}

// First returns the first element, or nil if there is none.
func (l *List[E, P]) First() P { return l.first }

// Len returns the number of elements.
func (l *List[E, P]) Len() int { return l.n }

// Next returns the element after e, or nil if e is the last.
func (l *List[E, P]) Next(e P) P { return e.Links().next }

// Add adds an element that is in no list at the end.
func (l *List[E, P]) Add(e P) {
	*e.Links() = Links[E]{prev: l.last, in: true}
	if l.last != nil {
		l.last.Links().next = e
	} else {
		l.first = e
	}
	l.last = e
	l.n++
}

// Remove removes an element. It does nothing if the element is in no list.
func (l *List[E, P]) Remove(e P) {
	at := e.Links()
	if !at.in {
		return
	}
	if at.prev != nil {
		P(at.prev).Links().next = at.next
	} else {
		l.first = at.next
	}
	if at.next != nil {
		P(at.next).Links().prev = at.prev
	} else {
		l.last = at.prev
	}
	*at = Links[E]{}
	l.n--
}
