package tree

import pg "github.com/pganalyze/pg_query_go/v6"

// UnnestEach converts unnest(a, b) to the equivalent unnest(a), unnest(b).
func UnnestEach(functions []*pg.Node) (all []*pg.Node) {
	for _, f := range functions {
		items := f.GetList().GetItems()
		call := items[0].GetFuncCall()
		if call == nil || len(call.Funcname) != 1 || ColumnName(items[0]) != "unnest" || len(call.Args) < 2 || call.FuncVariadic ||
			call.AggOrder != nil || call.AggFilter != nil || call.Over != nil || call.AggStar || call.AggDistinct {
			all = append(all, f)
			continue
		}
		for _, arg := range call.Args {
			one := &pg.Node{Node: &pg.Node_FuncCall{FuncCall: &pg.FuncCall{Funcname: call.Funcname, Args: []*pg.Node{arg}, Location: call.Location}}}
			list := &pg.List{Items: append([]*pg.Node{one}, items[1:]...)}
			all = append(all, &pg.Node{Node: &pg.Node_List{List: list}})
		}
	}
	return all
}
