package expr

import (
	"fmt"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// locationOf returns the position of an expression in the statement, or -1 if it is unknown: the
// leftmost position of the node and its parts.
func locationOf(n *pg.Node) int32 {
	switch n := n.GetNode().(type) {
	case *pg.Node_AConst:
		return n.AConst.Location
	case *pg.Node_ParamRef:
		return n.ParamRef.Location
	case *pg.Node_ColumnRef:
		return n.ColumnRef.Location
	case *pg.Node_TypeCast:
		if k := n.TypeCast.Arg.GetAConst(); k.GetIsnull() || k.GetSval() != nil { // becomes a constant of that type
			return k.Location
		}
		return leftmost(n.TypeCast.Location, leftmost(n.TypeCast.TypeName.GetLocation(), locationOf(n.TypeCast.Arg)))
	case *pg.Node_AExpr:
		return leftmost(n.AExpr.Location, locationOf(n.AExpr.Lexpr))
	case *pg.Node_BoolExpr:
		return leftmost(n.BoolExpr.Location, locationOf(first(n.BoolExpr.Args)))
	case *pg.Node_NullTest:
		return leftmost(n.NullTest.Location, locationOf(n.NullTest.Arg))
	case *pg.Node_BooleanTest:
		return leftmost(n.BooleanTest.Location, locationOf(n.BooleanTest.Arg))
	case *pg.Node_CaseExpr:
		return n.CaseExpr.Location
	case *pg.Node_CoalesceExpr:
		return n.CoalesceExpr.Location
	case *pg.Node_MinMaxExpr:
		return n.MinMaxExpr.Location
	case *pg.Node_FuncCall:
		return leftmost(n.FuncCall.Location, locationOf(first(n.FuncCall.Args)))
	case *pg.Node_AArrayExpr:
		return n.AArrayExpr.Location
	case *pg.Node_AIndirection:
		return locationOf(n.AIndirection.Arg)
	case *pg.Node_RowExpr:
		return n.RowExpr.Location
	case *pg.Node_SqlvalueFunction:
		return n.SqlvalueFunction.Location
	case *pg.Node_CollateClause:
		return leftmost(n.CollateClause.Location, locationOf(n.CollateClause.Arg))
	case *pg.Node_SubLink:
		return leftmost(n.SubLink.Location, locationOf(n.SubLink.Testexpr))
	case *pg.Node_NamedArgExpr:
		return leftmost(n.NamedArgExpr.Location, locationOf(n.NamedArgExpr.Arg))
	case *pg.Node_SetToDefault:
		return n.SetToDefault.Location
	case *pg.Node_List:
		return locationOf(first(n.List.Items))
	}
	return -1
}

// Location returns the position of an expression in the statement, or -1 if it is unknown.
func Location(n *pg.Node) int32 { return locationOf(n) }

func first(nodes []*pg.Node) *pg.Node {
	if len(nodes) == 0 {
		return nil
	}
	return nodes[0]
}

func leftmost(a, b int32) int32 {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// nameOf returns the name of a construct for the error that it is not supported.
func nameOf(n *pg.Node) string {
	name := strings.TrimPrefix(fmt.Sprintf("%T", n.GetNode()), "*pg_query.Node_")
	switch {
	case strings.HasPrefix(name, "Json"):
		return "SQL/JSON syntax"
	case strings.HasPrefix(name, "Xml"):
		return "XML syntax"
	case name == "GroupingFunc":
		return "GROUPING"
	case name == "CurrentOfExpr":
		return "WHERE CURRENT OF"
	}
	return name
}
