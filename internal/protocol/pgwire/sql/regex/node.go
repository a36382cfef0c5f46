package regex

// kind is the kind of a node.
type kind byte

const (
	empty   kind = iota
	char         // a character of the set
	border       // an assertion about a position
	look         // a position where the kid begins, or ends if behind is set; negated if denied is set
	cat          // the kids in sequence
	alt          // any of the kids
	repeat       // the kid min to max times
	group        // a capturing group
	backref      // the text that the group matched, min to max times; the kid is the group
)

// endless is a max of infinity.
const endless = -1

// Flags of a node: which matches it prefers, and what its dissection must consider.
const (
	longer  = 1 << iota // greedy
	shorter             // non-greedy
	mixed               // its parts have different preferences
	hasGroup
	hasBackref
)

const preference = longer | shorter

// node is a part of a pattern. It is immutable.
type node struct {
	kind     kind
	flags    int
	set      set
	place    byte // for a border: one of ^ $ A Z y Y m M, or < > for ^ and $ of lines
	behind   bool // for a look
	denied   bool // for a look
	kids     []*node
	min, max int
	number   int  // of the group, or of the group that a backref refers to
	whole    bool // no dissection is needed: whatever it reaches is a match
}

// up returns the flags that a part propagates to its parent.
func up(flags int) int {
	if flags&preference == preference {
		flags |= mixed
	}
	return flags &^ preference
}

// combine returns the flags of two parts together. The preference is that of the first part that
// has one.
func combine(a, b int) int {
	first := a & preference
	if first == 0 {
		first = b & preference
	}
	return up(a|b) | first
}

// messy reports whether a part with these flags must be dissected.
func messy(flags int) bool { return flags&(mixed|hasGroup|hasBackref) != 0 }

// size returns the number of characters and assertions in the node, with repetitions expanded.
func (n *node) size() int {
	total := 1
	for _, kid := range n.kids {
		total += kid.size()
	}
	switch {
	case n.kind == repeat && n.max != endless:
		total *= max(n.max, 1)
	case n.kind == repeat:
		total *= max(n.min, 1)
	}
	return min(total, 1<<30)
}

// unbound returns the node without assertions: an upper bound of what a back reference to it may
// match.
func (n *node) unbound() *node {
	if n.kind == border || n.kind == look {
		return &node{kind: empty}
	}
	c := *n
	c.kids = make([]*node, len(n.kids))
	for i, kid := range n.kids {
		c.kids[i] = kid.unbound()
	}
	return &c
}
