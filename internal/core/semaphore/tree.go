package semaphore

import (
	"slices"
	"sort"
)

// The tree is a B-tree of all tasks in their order that counts, for each subtree, the tasks of each
// status. What the rule asks – the first that waits, the last that runs, how many run among the N
// highest – are walks from the root to a leaf.
type tree struct {
	root    *node
	sum     counts
	records *slab[record]
	leaves  int
	inner   int
	loading bool // only sum is kept, until build
}

// A node has at most this many items or kids. One that falls below a quarter is joined with a
// neighbour when the two fill less than three quarters of one.
const (
	maxItems = 64
	maxKids  = 32
)

// item is a record's number and, so that a leaf can be counted without looking at its records, the
// status.
type item uint32

func itemOf(i uint32, st Status) item { return item(i<<2 | uint32(st)) }

func (it item) record() uint32 { return uint32(it >> 2) }
func (it item) status() Status { return Status(it & 3) }

// counts are numbers of tasks by their status.
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

// node is a leaf, which has items, or an inner node, which has kids. Only a root is empty.
type node struct {
	items []item
	kids  []kid
}

func (n *node) isLeaf() bool { return n.kids == nil }

// tooSmall reports whether a node should be joined with another.
func (n *node) tooSmall() bool {
	return n.isLeaf() && len(n.items) < maxItems/4 || !n.isLeaf() && len(n.kids) < maxKids/4
}

// kid is a subtree.
type kid struct {
	node  *node
	first place // the first place in it; unused in the first kid of a node
	counts
}

func (t *tree) place(it item) place { return t.records.at(it.record()).place() }

// search is the number of items of a leaf that precede p.
func (t *tree) search(n *node, p place) int {
	return sort.Search(len(n.items), func(i int) bool { return !t.place(n.items[i]).before(p) })
}

// kidOf is the subtree where p belongs.
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

// insertInto adds a task to a subtree. When its node was full the right part of it is returned, to
// stand behind it.
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

// cutAt is where a full node is cut for what is to be inserted at a place: in the middle, and
// behind all when it is the last, so that tasks which come in order leave full nodes behind.
func cutAt(at, full int) int {
	if at == full {
		return full
	}
	return full / 2
}

// replace puts an item in the place of another, of a task that stands at p.
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

// remove takes the task away that stands at p.
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

// join makes one of two neighbours, the kids i and i+1 of a node, if they fit.
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
