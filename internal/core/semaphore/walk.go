package semaphore

// first returns the first task with a status. There must be one.
func (t *tree) first(st Status) item {
	n := t.root
	for !n.isLeaf() {
		i := 0
		for n.kids[i].counts[st] == 0 {
			i++
		}
		n = n.kids[i].node
	}
	i := 0
	for n.items[i].status() != st {
		i++
	}
	return n.items[i]
}

// last returns the last task with a status. There must be one.
func (t *tree) last(st Status) item {
	n := t.root
	for !n.isLeaf() {
		i := len(n.kids) - 1
		for n.kids[i].counts[st] == 0 {
			i--
		}
		n = n.kids[i].node
	}
	i := len(n.items) - 1
	for n.items[i].status() != st {
		i--
	}
	return n.items[i]
}

// runningAmong returns how many of the first n tasks run.
func (t *tree) runningAmong(first int) (running int) {
	if first >= int(t.sum.all()) {
		return int(t.sum.running())
	}
	n := t.root
	for !n.isLeaf() {
		i := 0
		for k := &n.kids[i]; int(k.all()) <= first; k = &n.kids[i] {
			first -= int(k.all())
			running += int(k.running())
			i++
		}
		n = n.kids[i].node
	}
	for _, it := range n.items[:first] {
		if it.status() != Wait {
			running++
		}
	}
	return running
}

// before returns the number of tasks that precede p.
func (t *tree) before(p place) (tasks int) {
	n := t.root
	for !n.isLeaf() {
		own := n.kidOf(p)
		for i := range own {
			tasks += int(n.kids[i].all())
		}
		n = n.kids[own].node
	}
	return tasks + t.search(n, p)
}

// statusSet is a set of statuses.
type statusSet [3]bool

// among reports whether any of the counted tasks has one of the statuses.
func (w *statusSet) among(c *counts) bool {
	for st, wanted := range w {
		if wanted && c[st] > 0 {
			return true
		}
	}
	return false
}

// from yields the tasks of a subtree that have one of the statuses, in order, with their positions
// from 0. before is the number of tasks that precede the subtree; tasks before position first are
// skipped. It returns false if yield stopped. It does not visit subtrees without such tasks.
func (n *node) from(first, before int, wanted *statusSet, yield func(place int, it item) bool) bool {
	for i := range n.kids {
		k := &n.kids[i]
		all := int(k.all())
		if before+all > first && wanted.among(&k.counts) && !k.node.from(first, before, wanted, yield) {
			return false
		}
		before += all
	}
	for i := max(first-before, 0); i < len(n.items); i++ {
		if it := n.items[i]; wanted[it.status()] && !yield(before+i, it) {
			return false
		}
	}
	return true
}
