package tree

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Contains reports whether a tree contains a node for which wanted returns true.
func Contains(n *pg.Node, wanted func(protoreflect.ProtoMessage) bool) bool {
	return contains(n.ProtoReflect(), wanted)
}

func contains(m protoreflect.Message, wanted func(protoreflect.ProtoMessage) bool) bool {
	if wanted(m.Interface()) {
		return true
	}
	found := false
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Kind() != protoreflect.MessageKind:
		case f.IsList():
			for i := range v.List().Len() {
				found = found || contains(v.List().Get(i).Message(), wanted)
			}
		default:
			found = contains(v.Message(), wanted)
		}
		return !found
	})
	return found
}

// has reports whether a tree contains a node of type T.
func has[T protoreflect.ProtoMessage](n *pg.Node) bool {
	return Contains(n, func(m protoreflect.ProtoMessage) bool {
		_, ok := m.(T)
		return ok
	})
}

// Calls reports whether a tree contains function calls.
func Calls(n *pg.Node) bool { return has[*pg.FuncCall](n) }

// Simple reports whether a tree contains no function calls or subqueries, so that it does not
// matter when and how often it is evaluated.
func Simple(n *pg.Node) bool { return !has[*pg.FuncCall](n) && !has[*pg.SubLink](n) }

// MentionsColumns reports whether a tree refers to columns.
func MentionsColumns(n *pg.Node) bool { return has[*pg.ColumnRef](n) }

// MentionsTable reports whether a query reads a table with this name.
func MentionsTable(n *pg.Node, name string) bool {
	return Contains(n, func(m protoreflect.ProtoMessage) bool {
		r, ok := m.(*pg.RangeVar)
		return ok && r.Schemaname == "" && r.Relname == name
	})
}

// Conjuncts splits a AND b AND c.
func Conjuncts(n *pg.Node) []*pg.Node {
	if n == nil {
		return nil
	}
	if b := n.GetBoolExpr(); b != nil && b.Boolop == pg.BoolExprType_AND_EXPR {
		var all []*pg.Node
		for _, arg := range b.Args {
			all = append(all, Conjuncts(arg)...)
		}
		return all
	}
	return []*pg.Node{n}
}

// Equality returns the tree of a = b; nil: it is another one.
func Equality(n *pg.Node) *pg.A_Expr {
	a := n.GetAExpr()
	if a == nil || a.Kind != pg.A_Expr_Kind_AEXPR_OP || !slices.Equal(Names(a.Name), []string{"="}) {
		return nil
	}
	return a
}
