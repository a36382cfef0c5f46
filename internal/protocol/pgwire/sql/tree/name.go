package tree

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// Names returns the strings of a list of names.
func Names(list []*pg.Node) []string {
	all := make([]string, len(list))
	for i, n := range list {
		all[i] = n.GetString_().GetSval()
	}
	return all
}

// LastName returns the last of a list of names: that of an object without its schema.
func LastName(list []*pg.Node) string { return list[len(list)-1].GetString_().GetSval() }

const unnamed = "?column?"

// ColumnName returns PostgreSQL's name for a column of a select list without AS.
func ColumnName(n *pg.Node) string {
	name, _ := figureName(n)
	if name == "" {
		return unnamed
	}
	return name
}

// figureName returns a name and its rank: 2 the name of an object, 1 of a type or a construct, 0
// none.
func figureName(n *pg.Node) (string, int) {
	switch n := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return nameIn(n.ColumnRef.Fields)
	case *pg.Node_AIndirection:
		if name, good := nameIn(n.AIndirection.Indirection); good > 0 {
			return name, good
		}
		return figureName(n.AIndirection.Arg)
	case *pg.Node_FuncCall:
		return nameIn(n.FuncCall.Funcname)
	case *pg.Node_AExpr:
		if n.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", 2
		}
	case *pg.Node_TypeCast:
		if name, good := figureName(n.TypeCast.Arg); good > 1 {
			return name, good
		}
		if name, good := nameIn(n.TypeCast.TypeName.Names); good > 0 {
			return name, 1
		}
	case *pg.Node_CollateClause:
		return figureName(n.CollateClause.Arg)
	case *pg.Node_CaseExpr:
		if name, good := figureName(n.CaseExpr.Defresult); good > 1 {
			return name, good
		}
		return "case", 1
	case *pg.Node_SubLink:
		return sublinkName(n.SubLink)
	case *pg.Node_AArrayExpr:
		return "array", 2
	case *pg.Node_RowExpr:
		return "row", 2
	case *pg.Node_CoalesceExpr:
		return "coalesce", 2
	case *pg.Node_GroupingFunc:
		return "grouping", 2
	case *pg.Node_MinMaxExpr:
		if n.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			return "least", 2
		}
		return "greatest", 2
	case *pg.Node_SqlvalueFunction:
		return sqlValueNames[n.SqlvalueFunction.Op], 2
	}
	return "", 0
}

// nameIn returns the last name in a list that may have subscripts.
func nameIn(list []*pg.Node) (string, int) {
	for i := len(list) - 1; i >= 0; i-- {
		if s := list[i].GetString_(); s != nil {
			return s.Sval, 2
		}
		if list[i].GetAStar() != nil {
			return "", 0
		}
	}
	return "", 0
}

func sublinkName(n *pg.SubLink) (string, int) {
	switch n.SubLinkType {
	case pg.SubLinkType_EXISTS_SUBLINK:
		return "exists", 2
	case pg.SubLinkType_ARRAY_SUBLINK:
		return "array", 2
	case pg.SubLinkType_EXPR_SUBLINK:
		if list := n.Subselect.GetSelectStmt().GetTargetList(); len(list) > 0 {
			target := list[0].GetResTarget()
			if target.Name != "" {
				return target.Name, 2
			}
			return figureName(target.Val)
		}
	}
	return "", 0
}

var sqlValueNames = map[pg.SQLValueFunctionOp]string{
	pg.SQLValueFunctionOp_SVFOP_CURRENT_DATE:        "current_date",
	pg.SQLValueFunctionOp_SVFOP_CURRENT_TIME:        "current_time",
	pg.SQLValueFunctionOp_SVFOP_CURRENT_TIME_N:      "current_time",
	pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP:   "current_timestamp",
	pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N: "current_timestamp",
	pg.SQLValueFunctionOp_SVFOP_LOCALTIME:           "localtime",
	pg.SQLValueFunctionOp_SVFOP_LOCALTIME_N:         "localtime",
	pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP:      "localtimestamp",
	pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:    "localtimestamp",
	pg.SQLValueFunctionOp_SVFOP_CURRENT_ROLE:        "current_role",
	pg.SQLValueFunctionOp_SVFOP_CURRENT_USER:        "current_user",
	pg.SQLValueFunctionOp_SVFOP_USER:                "user",
	pg.SQLValueFunctionOp_SVFOP_SESSION_USER:        "session_user",
	pg.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:     "current_catalog",
	pg.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:      "current_schema",
}
