package semaphore

import (
	"slices"
	"sort"
)

// tree is a B-tree of all tasks in order, with the number of tasks of each status for each subtree.
// Everything that the rule needs (the first waiting task, the last running one, how many run among
// the N highest) is found on a walk from the root to a leaf.
type tree struct {
	root    *node
	sum     counts
	records *slab[record]
	leaves  int
	inner   int
	loading bool // only sum is maintained, until build
}

// Limits of a node. One that falls below a quarter is joined with a neighbour if both together fill
// less than three quarters of a node.
const (
	maxItems = 64
	maxKids  = 32
)

// item is a record's index and its status, so that a leaf can be counted without looking at
// records.
type item uint32

func itemOf(i uint32, st Status) item { return item(i<<2 | uint32(st)) }

func (it item) record() uint32 { return uint32(it >> 2) }
func (it item) status() Status { return Status(it & 3) }

// counts holds the number of tasks of each status.
type counts [3]uint32

func (c *counts) all() uint32     { return c[Wait] + c[Acquired] + c[TryRelease] }
func (c *counts) running() uint32 { return c[Acquired] + c[TryRelease] }

func (c *counts) add(d counts) {
	for st := range c {
		c[st] += d[st]
	}
}

func (c *counts) sub(d counts) {
	for st := range c {
		c[st] -= d[st]
	}
}

// node is a leaf, which has items, or an inner node, which has kids. Only the root may be empty.
type node struct {
	items []item
	kids  []kid
}

func (n *node) isLeaf() bool { return n.kids == nil }

// tooSmall reports whether a node should be joined with another.
func (n *node) tooSmall() bool {
	return n.isLeaf() && len(n.items) < maxItems/4 || !n.isLeaf() && len(n.kids) < maxKids/4
}

// kid is a subtree with its counts.
type kid struct {
	node  *node
	first place // first place in the subtree; unused in a node's first kid
	counts
}

func (t *tree) place(it item) place { return t.records.at(it.record()).place() }

// search returns the number of items of a leaf that precede p.
func (t *tree) search(n *node, p place) int {
	return sort.Search(len(n.items), func(i int) bool { return !t.place(n.items[i]).before(p) })
}

// kidOf returns the index of the subtree where p belongs.
func (n *node) kidOf(p place) int {
	return sort.Search(len(n.kids)-1, func(i int) bool { return p.before(n.kids[i+1].first) })
}

func (t *tree) newLeaf(room int) *node {
	t.leaves++
	return &node{items: make([]item, 0, room)}
}

func (t *tree) newInner(kids ...kid) *node {
	t.inner++
	return &node{kids: append(make([]kid, 0, maxKids), kids...)}
}

// insert adds a task.
func (t *tree) insert(it item) {
	if t.loading {
		t.sum[it.status()]++
		return
	}
	if t.root == nil {
		t.root = t.newLeaf(0)
	}
	if right := t.insertInto(t.root, t.place(it), it); right.node != nil {
		left := kid{node: t.root, counts: t.sum}
		left.counts[it.status()]++
		left.counts.sub(right.counts)
		t.root = t.newInner(left, right)
	}
	t.sum[it.status()]++
}

// insertInto adds a task to a subtree. If that splits its root, it returns the right part, which
// the caller inserts behind it.
func (t *tree) insertInto(n *node, p place, it item) (right kid) {
	if n.isLeaf() {
		return t.insertLeaf(n, p, it)
	}
	i := n.kidOf(p)
	k := &n.kids[i]
	k.counts[it.status()]++
	split := t.insertInto(k.node, p, it)
	if split.node == nil {
		return kid{}
	}
	k.counts.sub(split.counts)
	into, at := n, i+1
	if len(n.kids) == maxKids {
		cut := cutAt(at, maxKids)
		right.node = t.newInner(n.kids[cut:]...)
		clear(n.kids[cut:])
		n.kids = n.kids[:cut]
		if at >= cut {
			into, at = right.node, at-cut
		}
	}
	into.kids = slices.Insert(into.kids, at, split)
	if right.node != nil {
		right.first = right.node.kids[0].first
		for i := range right.node.kids {
			right.counts.add(right.node.kids[i].counts)
		}
	}
	return right
}

func (t *tree) insertLeaf(n *node, p place, it item) (right kid) {
	into, at := n, t.search(n, p)
	if len(n.items) == maxItems {
		cut := cutAt(at, maxItems)
		right.node = t.newLeaf(maxItems)
		right.node.items = append(right.node.items, n.items[cut:]...)
		n.items = n.items[:cut]
		if at >= cut {
			into, at = right.node, at-cut
		}
	}
	into.items = slices.Insert(into.items, at, it)
	if right.node != nil {
		right.first = t.place(right.node.items[0])
		for _, it := range right.node.items {
			right.counts[it.status()]++
		}
	}
	return right
}

// cutAt returns where to split a full node for an insertion: in the middle, but at the end if the
// insertion is at the end, so that tasks that arrive in order leave full nodes behind.
func cutAt(at, full int) int {
	if at == full {
		return full
	}
	return full / 2
}

// replace replaces the item of the task at p.
func (t *tree) replace(p place, old, it item) {
	t.sum[old.status()]--
	t.sum[it.status()]++
	if t.loading {
		return
	}
	n := t.root
	for !n.isLeaf() {
		k := &n.kids[n.kidOf(p)]
		k.counts[old.status()]--
		k.counts[it.status()]++
		n = k.node
	}
	n.items[t.search(n, p)] = it
}

// remove removes the task at p.
func (t *tree) remove(p place, it item) {
	t.sum[it.status()]--
	if t.loading {
		return
	}
	t.removeFrom(t.root, p, it)
	for !t.root.isLeaf() && len(t.root.kids) == 1 {
		t.root = t.root.kids[0].node
		t.inner--
	}
}

func (t *tree) removeFrom(n *node, p place, it item) {
	if n.isLeaf() {
		i := t.search(n, p)
		n.items = slices.Delete(n.items, i, i+1)
		return
	}
	i := n.kidOf(p)
	k := &n.kids[i]
	k.counts[it.status()]--
	t.removeFrom(k.node, p, it)
	if k.node.tooSmall() && !t.join(n, i-1) {
		t.join(n, i)
	}
}

// join merges the neighbours i and i+1 of a node's kids if they fit.
func (t *tree) join(n *node, i int) bool {
	if i < 0 || i+1 >= len(n.kids) {
		return false
	}
	left, right := &n.kids[i], &n.kids[i+1]
	switch l, r := left.node, right.node; {
	case l.isLeaf():
		if size := len(l.items) + len(r.items); size > maxItems*3/4 && len(l.items) > 0 && len(r.items) > 0 {
			return false
		}
		l.items = append(l.items, r.items...)
		t.leaves--
	default:
		if len(l.kids)+len(r.kids) > maxKids*3/4 {
			return false
		}
		r.kids[0].first = right.first
		l.kids = append(l.kids, r.kids...)
		t.inner--
	}
	left.counts.add(right.counts)
	n.kids = slices.Delete(n.kids, i+1, i+2)
	return true
}
