package stream

import (
	"slices"
	"sort"
)

// listBlock is how many values a block of a list holds.
const listBlock = 128

// list holds values by id, in order. The zero value is empty.
type list[T interface{ key() ID }] struct {
	blocks [][]T // none is empty
	n      int
}

// seek returns the position of the first value at or after id. The block is len(l.blocks) if there
// is none.
func (l *list[T]) seek(id ID) (k, i int) {
	k = sort.Search(len(l.blocks), func(k int) bool { b := l.blocks[k]; return !b[len(b)-1].key().Before(id) })
	if k < len(l.blocks) {
		b := l.blocks[k]
		i = sort.Search(len(b), func(i int) bool { return !b[i].key().Before(id) })
	}
	return k, i
}

// get returns the value of an id, or nil if there is none. It is valid until the next change of the
// list.
func (l *list[T]) get(id ID) *T {
	k, i := l.seek(id)
	if k == len(l.blocks) || l.blocks[k][i].key() != id {
		return nil
	}
	return &l.blocks[k][i]
}

// put adds a value, or replaces the one with the same id.
func (l *list[T]) put(v T) {
	k, i := l.seek(v.key())
	switch {
	case k < len(l.blocks) && l.blocks[k][i].key() == v.key():
		l.blocks[k][i] = v
		return
	case k == len(l.blocks) && k > 0 && len(l.blocks[k-1]) < listBlock: // after all others
		l.blocks[k-1] = append(l.blocks[k-1], v)
	case k == len(l.blocks):
		l.blocks = append(l.blocks, []T{v})
	default:
		if b := l.blocks[k]; len(b) == listBlock {
			upper := append(make([]T, 0, listBlock), b[listBlock/2:]...)
			l.blocks[k] = b[:listBlock/2]
			clear(b[listBlock/2:])
			l.blocks = slices.Insert(l.blocks, k+1, upper)
			if i >= listBlock/2 {
				k, i = k+1, i-listBlock/2
			}
		}
		l.blocks[k] = slices.Insert(l.blocks[k], i, v)
	}
	l.n++
}

// remove removes the value of an id and reports whether it existed.
func (l *list[T]) remove(id ID) bool {
	k, i := l.seek(id)
	if k == len(l.blocks) || l.blocks[k][i].key() != id {
		return false
	}
	l.n--
	switch {
	case len(l.blocks[k]) > 1:
		l.blocks[k] = slices.Delete(l.blocks[k], i, i+1)
	case k == 0:
		l.blocks[0] = nil
		l.blocks = l.blocks[1:]
	default:
		l.blocks = slices.Delete(l.blocks, k, k+1)
	}
	return true
}

// ascend calls fn for the values in order, starting at from, until fn returns false.
func (l *list[T]) ascend(from ID, fn func(*T) bool) {
	for k, i := l.seek(from); k < len(l.blocks); k, i = k+1, 0 {
		for b := l.blocks[k]; i < len(b); i++ {
			if !fn(&b[i]) {
				return
			}
		}
	}
}

func (l *list[T]) ends() (first, last ID) {
	if l.n > 0 {
		b := l.blocks[len(l.blocks)-1]
		first, last = l.blocks[0][0].key(), b[len(b)-1].key()
	}
	return first, last
}
