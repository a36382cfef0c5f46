package value

import (
	"cmp"
	"strings"
)

// jsonRank returns the position in jsonb's order of kinds: Object > Array > Boolean > Number >
// String > null.
func jsonRank(n *JSONNode) int { return strings.IndexByte("ns#bao", n.Kind) }

func compareJSON(a, b string) (int, error) {
	x, err := ParseJSON(a, true)
	if err != nil {
		return 0, err
	}
	y, err := ParseJSON(b, true)
	if err != nil {
		return 0, err
	}
	if x.Kind == 'a' && len(x.Elems) == 0 && y.Kind != 'a' {
		return -1, nil // an empty top-level array is less than anything; PostgreSQL keeps this order for compatibility
	}
	if y.Kind == 'a' && len(y.Elems) == 0 && x.Kind != 'a' {
		return 1, nil
	}
	return compareNodes(x, y), nil
}

// Equal reports whether two values of jsonb are equal.
func (n *JSONNode) Equal(other *JSONNode) bool { return compareNodes(n, other) == 0 }

func compareNodes(a, b *JSONNode) int {
	if c := cmp.Compare(jsonRank(a), jsonRank(b)); c != 0 {
		return c
	}
	switch a.Kind {
	case 'b':
		return cmp.Compare(order(a.Bool), order(b.Bool))
	case '#':
		return a.Number.Cmp(b.Number)
	case 's':
		return strings.Compare(a.Text, b.Text)
	case 'a':
		if c := cmp.Compare(len(a.Elems), len(b.Elems)); c != 0 {
			return c
		}
		for i := range a.Elems {
			if c := compareNodes(a.Elems[i], b.Elems[i]); c != 0 {
				return c
			}
		}
	case 'o':
		if c := cmp.Compare(len(a.Members), len(b.Members)); c != 0 {
			return c
		}
		for i := range a.Members {
			if c := cmp.Or(strings.Compare(a.Members[i].Key, b.Members[i].Key), compareNodes(a.Members[i].Value, b.Members[i].Value)); c != 0 {
				return c
			}
		}
	}
	return 0
}

// jsonKey returns a text that is the same for equal values: numbers have no trailing zeros.
func jsonKey(s string) string {
	node, err := ParseJSON(s, true)
	if err != nil {
		return s
	}
	trimNumbers(node)
	return string(node.Append(nil))
}

func trimNumbers(n *JSONNode) {
	n.Number = n.Number.TrimScale()
	for _, e := range n.Elems {
		trimNumbers(e)
	}
	for _, m := range n.Members {
		trimNumbers(m.Value)
	}
}
