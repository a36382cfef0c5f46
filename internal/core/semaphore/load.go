package semaphore

import (
	"cmp"
	"slices"

	"fiveways.dev/fiveways/internal/core/invariants"
)

// Load begins a load, until Settle: tasks may be put, changed, removed, looked up and counted, but
// nothing may be asked that depends on their order. With millions of tasks that takes a fraction of
// the time, because their order is computed once, not for each.
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

// placed is an item with where it stands: sorting them looks at no records.
type placed struct {
	place
	item
}

// sorted are all tasks in their order.
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

// Nodes of a tree that is built have room for an eighth more, so that the first tasks that come do
// not divide them all.
const (
	builtItems = maxItems * 7 / 8
	builtKids  = maxKids * 7 / 8
)

// build makes the tree of all tasks, given in their order.
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

// parts divides a row into as few parts as can be that are no longer than most, all about equally
// long.
func parts[T any](all []T, most int) (parts [][]T) {
	n := (len(all) + most - 1) / most
	for i := range n {
		parts = append(parts, all[len(all)*i/n:len(all)*(i+1)/n])
	}
	return parts
}
