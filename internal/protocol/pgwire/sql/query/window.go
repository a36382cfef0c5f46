package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

var ranks = map[string]exec.Rank{"row_number": exec.RowNumber, "rank": exec.PlainRank, "dense_rank": exec.DenseRank}

// The frame of a window without a frame clause, in the parse tree.
const frameDefault = 0x00001 | 0x00002 | 0x00010 | 0x00020 | 0x00200 | 0x00400

// windowCall compiles a call with OVER.
func (l *level) windowCall(call *pg.FuncCall) (expr.Expr, error) {
	if !l.clause.aggregates || l.clause.name == "HAVING" {
		return nil, l.error("42P20", call.Location, "window functions are not allowed in %s", l.clause.name)
	}
	over := call.Over
	if over.Name != "" || over.Refname != "" {
		return nil, pgerror.Unsupported("WINDOW").At(l.p.Text, over.Location)
	}
	if over.FrameOptions&^frameDefault != 0 || over.StartOffset != nil || over.EndOffset != nil {
		return nil, pgerror.Unsupported("a frame clause").At(l.p.Text, over.Location)
	}
	w := &exec.Window{Rank: ranks[tree.LastName(call.Funcname)]}
	typ := value.Int8
	if w.Rank == exec.NoRank {
		if err := l.windowAggregate(w, call); err != nil {
			return nil, err
		}
		typ = w.Agg.Fn.Returns
	}
	var err error
	if w.Partition, err = l.windowKeys(over.PartitionClause); err != nil {
		return nil, err
	}
	if w.Order, err = l.windowKeys(over.OrderClause); err != nil {
		return nil, err
	}
	w.Slot = l.slot(1)
	l.windows = append(l.windows, w)
	return &slotRef{slot: w.Slot, typ: typ}, nil
}

// windowAggregate plans an aggregate with OVER: it plans the aggregate without OVER and then
// removes it from the list.
func (l *level) windowAggregate(w *exec.Window, call *pg.FuncCall) error {
	before := len(l.aggs)
	plain := &pg.FuncCall{
		Funcname: call.Funcname, Args: call.Args, AggFilter: call.AggFilter, AggStar: call.AggStar, AggDistinct: call.AggDistinct,
		AggOrder: call.AggOrder, FuncVariadic: call.FuncVariadic, Funcformat: call.Funcformat, Location: call.Location,
	}
	l.keepRefs = true
	_, err := l.compiler().Compile(&pg.Node{Node: &pg.Node_FuncCall{FuncCall: plain}})
	l.keepRefs = false
	switch {
	case err != nil:
		return err
	case len(l.aggs) == before:
		return pgerror.Unsupported("this window function").At(l.p.Text, call.Location)
	}
	last := len(l.aggs) - 1 // the preceding ones are among its arguments
	w.Agg = l.aggs[last]
	l.aggs = l.aggs[:last]
	l.refs = slices.DeleteFunc(l.refs, func(r *slotRef) bool { return r.slot == w.Agg.Slot })
	if call.AggDistinct || len(call.AggOrder) > 0 {
		return pgerror.Unsupported("DISTINCT or ORDER BY in a window function").At(l.p.Text, call.Location)
	}
	return nil
}

func (l *level) windowKeys(list []*pg.Node) ([]exec.SortKey, error) {
	var keys []exec.SortKey
	for _, n := range list {
		sort := n.GetSortBy()
		if sort == nil {
			sort = &pg.SortBy{Node: n}
		}
		c := l.compiler()
		e, err := c.Compile(sort.Node)
		if err == nil {
			e, err = c.ResolveUnknown(e)
		}
		if err != nil {
			return nil, err
		}
		keys = append(keys, newSortKey(e, sort))
	}
	return keys, nil
}
