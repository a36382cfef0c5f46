package semaphore

import (
	"cmp"
	"slices"

	"fiveways.dev/fiveways/internal/core/invariants"
)

// Load begins a load, which Settle ends. Meanwhile tasks may be put, changed, removed, looked up
// and counted, but methods that depend on their order must not be called. With millions of tasks
// this is much faster, because the order is computed only once.
func (s *State) Load() {
	s.tree.root, s.tree.leaves, s.tree.inner = nil, 0, 0
	s.tree.loading = true
}

// Settle ends a load.
func (s *State) Settle() {
	if !s.tree.loading {
		return
	}
	s.tree.loading = false
	s.tree.build(s.sorted())
	if invariants.Enabled {
		s.checkSmall()
	}
}

// placed is an item with its place, so that sorting need not look at records.
type placed struct {
	place
	item
}

// sorted returns all tasks in order.
func (s *State) sorted() []placed {
	all := make([]placed, s.records.n)
	for i := range all {
		r := s.records.at(uint32(i))
		all[i] = placed{r.place(), itemOf(uint32(i), r.status())}
	}
	slices.SortFunc(all, func(a, b placed) int {
		if a.rank != b.rank {
			return cmp.Compare(a.rank, b.rank)
		}
		return cmp.Compare(a.seq, b.seq)
	})
	return all
}

// build leaves room for an eighth more in each node, so that the first new tasks do not split every
// node.
const (
	builtItems = maxItems * 7 / 8
	builtKids  = maxKids * 7 / 8
)

// build builds the tree of all tasks, given in order.
func (t *tree) build(all []placed) {
	var level []kid
	for _, part := range parts(all, builtItems) {
		k := kid{node: t.newLeaf(maxItems), first: part[0].place}
		for _, p := range part {
			k.node.items = append(k.node.items, p.item)
			k.counts[p.status()]++
		}
		level = append(level, k)
	}
	for len(level) > 1 {
		var above []kid
		for _, part := range parts(level, builtKids) {
			k := kid{node: t.newInner(part...), first: part[0].first}
			for i := range part {
				k.counts.add(part[i].counts)
			}
			above = append(above, k)
		}
		level = above
	}
	if len(level) == 1 {
		t.root = level[0].node
	}
}

// parts divides a slice into as few parts of at most this length as possible, all about equally
// long.
func parts[T any](all []T, most int) (parts [][]T) {
	n := (len(all) + most - 1) / most
	for i := range n {
		parts = append(parts, all[len(all)*i/n:len(all)*(i+1)/n])
	}
	return parts
}
