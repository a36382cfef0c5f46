package regex

// kind is what a node of the tree matches.
type kind byte

const (
	empty   kind = iota
	char         // a character of the set
	border       // a place where something holds
	look         // a place that the kid begins at, or ends at when behind; or does not, when denied
	cat          // the kids one after the other
	alt          // one of the kids
	repeat       // the kid min to max times
	group        // the kid, remembered under a number
	backref      // what the group matched, min to max times; the kid is the group
)

// endless is a max without a limit.
const endless = -1

// The flags of a node: which matches it prefers, and what its dissection has to look at.
const (
	longer  = 1 << iota // it takes as much as it can
	shorter             // as little
	mixed               // parts of it prefer differently
	hasGroup
	hasBackref
)

const preference = longer | shorter

// node is a part of a pattern. It is not changed once made.
type node struct {
	kind     kind
	flags    int
	set      set
	place    byte // of a border: one of ^ $ A Z y Y m M, or < > for ^ and $ of lines
	behind   bool // of look
	denied   bool // of look
	kids     []*node
	min, max int
	number   int  // of a group or of a backref's group
	whole    bool // its parts are of no interest: whatever it reaches is a match
}

// up is what the flags of a part mean for what it is a part of.
func up(flags int) int {
	if flags&preference == preference {
		flags |= mixed
	}
	return flags &^ preference
}

// combine is the flags of two parts together: the preference is that of the first that has one.
func combine(a, b int) int {
	first := a & preference
	if first == 0 {
		first = b & preference
	}
	return up(a|b) | first
}

// messy reports whether a part with such flags must be dissected.
func messy(flags int) bool { return flags&(mixed|hasGroup|hasBackref) != 0 }

// size is how many characters and borders the node has, counting what is repeated as often as it
// is.
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

// unbound is the node without the conditions at its borders: what a back reference to it may match.
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
