package selector

// op is the operation of a node.
type op uint8

const (
	opLiteral op = iota // val
	opField             // source
	opHeader            // name

	opAnd // any number of kids
	opOr
	opNot
	opIsNull
	opBetween // kids: value, low, high
	opIn      // set
	opLike    // pattern

	opEqual
	opNotEqual
	opLess
	opGreater
	opLessEqual
	opGreaterEqual

	opAdd
	opSub
	opMul
	opDiv
	opNeg
)

// node is one operator or operand of a condition. It is immutable once parsed.
type node struct {
	op      op
	kids    []*node
	val     value
	source  source
	name    string
	pattern []piece
	set     map[value]struct{} // all of one kind: text, or numbers in canonical form
	texts   bool               // the set contains text
	height  int                // height of the tree, including this node
}

// test returns the truth of a condition.
func (n *node) test(v *view) truth {
	switch n.op {
	case opAnd:
		all := yes
		for _, k := range n.kids {
			if all = min(all, k.test(v)); all == no {
				break
			}
		}
		return all
	case opOr:
		some := no
		for _, k := range n.kids {
			if some = max(some, k.test(v)); some == yes {
				break
			}
		}
		return some
	case opNot:
		return -n.kids[0].test(v)
	case opIsNull:
		return truthOf(n.kids[0].value(v).kind == null)
	case opBetween:
		x := n.kids[0].value(v)
		return min(holds(opGreaterEqual, x, n.kids[1].value(v)), holds(opLessEqual, x, n.kids[2].value(v)))
	case opIn:
		return n.contains(n.kids[0].value(v))
	case opLike:
		x := n.kids[0].value(v)
		if x.kind != str {
			return unknown
		}
		return truthOf(like(n.pattern, x.str))
	case opEqual, opNotEqual, opLess, opGreater, opLessEqual, opGreaterEqual:
		return holds(n.op, n.kids[0].value(v), n.kids[1].value(v))
	}
	return n.value(v).truth()
}

// value returns the value of an operand. The value of a condition is a boolean, or NULL if it is
// unknown.
func (n *node) value(v *view) value {
	switch n.op {
	case opLiteral:
		return n.val
	case opField:
		return v.field(n.source)
	case opHeader:
		return v.header(n.name)
	case opAdd, opSub, opMul, opDiv:
		return calculate(n.op, n.kids[0].value(v), n.kids[1].value(v))
	case opNeg:
		return negate(n.kids[0].value(v))
	}
	switch n.test(v) {
	case yes:
		return boolValue(true)
	case no:
		return boolValue(false)
	}
	return value{}
}

// contains evaluates x IN (...).
func (n *node) contains(x value) truth {
	if n.texts && x.kind != str || !n.texts && !x.number() {
		return unknown
	}
	_, ok := n.set[x.canonical()]
	return truthOf(ok)
}

// holds compares two values. Booleans have no order.
func holds(op op, a, b value) truth {
	order, ok := compare(a, b)
	if !ok || a.kind == boolean && op != opEqual && op != opNotEqual {
		return unknown
	}
	switch op {
	case opEqual:
		return truthOf(order == 0)
	case opNotEqual:
		return truthOf(order != 0)
	case opLess:
		return truthOf(order < 0)
	case opGreater:
		return truthOf(order > 0)
	case opLessEqual:
		return truthOf(order <= 0)
	}
	return truthOf(order >= 0)
}

// isCondition reports whether the node can be true: it is an operator that returns a truth, a name,
// TRUE or FALSE.
func (n *node) isCondition() bool {
	switch n.op {
	case opLiteral:
		return n.val.kind == boolean
	case opAdd, opSub, opMul, opDiv, opNeg:
		return false
	}
	return true
}
