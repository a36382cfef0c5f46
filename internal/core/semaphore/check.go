package semaphore

import "fmt"

// checkedTasks is the largest state that is checked after each change.
const checkedTasks = 256

// checkSmall checks a small state. It is called after each change in builds with the tag
// invariants.
func (s *State) checkSmall() {
	if s.Len() <= checkedTasks && !s.tree.loading {
		s.check()
	}
}

// check panics if the parts of the state do not agree.
func (s *State) check() {
	var seen counts
	last := place{}
	for it := range s.items() {
		r := s.records.at(it.record())
		if r.status() != it.status() || seen.all() > 0 && !last.before(r.place()) {
			panic(fmt.Sprintf("semaphore: record %+v, in the tree as %d, behind %+v", *r, it.status(), last))
		}
		last = r.place()
		seen[it.status()]++
		if i, ok := s.find(s.nameOf(r)); !ok || i != it.record() {
			panic(fmt.Sprintf("semaphore: the index has %d, %v for record %d", i, ok, it.record()))
		}
		if r.isText() && s.texts.at(uint32(r.id)).task != it.record() || r.hold != 0 && s.holds.slab.at(r.hold-1).task != it.record() {
			panic("semaphore: a text or hold of another record")
		}
	}
	if seen != s.tree.sum || seen.all() != s.records.n || s.texts.n+s.index.heads.n > 3*s.records.n+1 {
		panic(fmt.Sprintf("semaphore: %v tasks in the tree, %v counted, %d records, %d texts, %d buckets", seen, s.tree.sum, s.records.n, s.texts.n, s.index.heads.n))
	}
	if s.tree.root != nil {
		s.tree.root.check(s.tree.sum)
	}
	s.checkHolds()
}

func (s *State) items() func(func(item) bool) {
	return func(yield func(item) bool) {
		if s.tree.root != nil {
			s.tree.root.from(0, 0, &statusSet{true, true, true}, func(_ int, it item) bool { return yield(it) })
		}
	}
}

// check panics if the tasks in a subtree do not match the counts in its parent.
func (n *node) check(want counts) {
	var got counts
	for _, it := range n.items {
		got[it.status()]++
	}
	for i := range n.kids {
		n.kids[i].node.check(n.kids[i].counts)
		got.add(n.kids[i].counts)
	}
	if got != want || len(n.items) > maxItems || len(n.kids) > maxKids {
		panic(fmt.Sprintf("semaphore: %v tasks in a node of %v, %d items, %d kids", got, want, len(n.items), len(n.kids)))
	}
}

// checkHolds panics if a hold is in the wrong place.
func (s *State) checkHolds() {
	ends, owned := 0, 0
	for i := range s.holds.slab.n {
		h := s.holds.slab.at(i)
		if s.records.at(h.task).hold != i+1 || h.lease == 0 && h.until == 0 && h.owner == 0 || (h.until != 0) != (h.heap != 0) {
			panic(fmt.Sprintf("semaphore: hold %d is %+v", i, *h))
		}
		if h.heap != 0 {
			ends++
			if s.holds.ends[h.heap-1] != i || h.heap > 1 && (endOrder{s}).Before(i, s.holds.ends[(h.heap-2)/2]) {
				panic(fmt.Sprintf("semaphore: hold %d is at place %d of the ends", i, h.heap))
			}
		}
		if h.owner != 0 {
			owned++
		}
	}
	for owner, i := range s.holds.owners {
		for prev := uint32(0); i != 0; owned-- {
			h := s.holds.slab.at(i - 1)
			if h.owner != owner || h.prev != prev {
				panic(fmt.Sprintf("semaphore: hold %d in the list of %d: %+v", i-1, owner, *h))
			}
			prev, i = i, h.next
		}
	}
	if ends != len(s.holds.ends) || owned != 0 {
		panic(fmt.Sprintf("semaphore: %d ends of %d, %d holds in no list", ends, len(s.holds.ends), owned))
	}
}
