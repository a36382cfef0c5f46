package tree

import pg "github.com/pganalyze/pg_query_go/v6"

// blockSize is PostgreSQL's block size.
const blockSize = 8192

// SampledRelation returns the relation in SELECT pg_relation_size(relation) / 8192, or nil for any
// other query.
func SampledRelation(n *pg.SelectStmt) *pg.Node {
	if len(n.TargetList) != 1 || len(n.FromClause) > 0 {
		return nil
	}
	pages := n.TargetList[0].GetResTarget().GetVal().GetAExpr()
	if pages == nil || len(pages.Name) != 1 || Names(pages.Name)[0] != "/" || pages.Rexpr.GetAConst().GetIval().GetIval() != blockSize {
		return nil
	}
	size := pages.Lexpr.GetFuncCall()
	if size == nil || len(size.Args) != 1 || ColumnName(pages.Lexpr) != "pg_relation_size" || size.Args[0].GetTypeCast() == nil {
		return nil
	}
	return size.Args[0]
}
