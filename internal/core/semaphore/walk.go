package semaphore

// first is the first task with a status; there is one.
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

// last is the last task with a status; there is one.
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

// runningAmong is how many of the first n tasks run.
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

// before is the number of tasks that stand before p.
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

// from yields the tasks of a subtree in their order, but for the first so many, until yield wants no more.
func (n *node) from(skip int, yield func(item) bool) bool {
	for i := range n.kids {
		k := &n.kids[i]
		if all := int(k.all()); skip >= all {
			skip -= all
			continue
		}
		if !k.node.from(skip, yield) {
			return false
		}
		skip = 0
	}
	if n.isLeaf() {
		for _, it := range n.items[min(skip, len(n.items)):] {
			if !yield(it) {
				return false
			}
		}
	}
	return true
}
