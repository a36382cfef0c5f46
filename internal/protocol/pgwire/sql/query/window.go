package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/tree"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// window is one call of a window function: a ranking function, or an aggregate over the rows of a
// partition up to the current row.
type window struct {
	rank      rankKind
	agg       *aggregate // used instead of rank
	partition []sortKey
	order     []sortKey
	slot      int
}

type rankKind byte

const (
	noRank rankKind = iota
	rowNumber
	rank
	denseRank
)

var ranks = map[string]rankKind{"row_number": rowNumber, "rank": rank, "dense_rank": denseRank}

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
	w := &window{rank: ranks[tree.LastName(call.Funcname)]}
	typ := value.Int8
	if w.rank == noRank {
		if err := l.windowAggregate(w, call); err != nil {
			return nil, err
		}
		typ = w.agg.fn.Returns
	}
	var err error
	if w.partition, err = l.windowKeys(over.PartitionClause); err != nil {
		return nil, err
	}
	if w.order, err = l.windowKeys(over.OrderClause); err != nil {
		return nil, err
	}
	w.slot = l.slot(1)
	l.windows = append(l.windows, w)
	return &slotRef{slot: w.slot, typ: typ}, nil
}

// windowAggregate plans an aggregate with OVER: it plans the aggregate without OVER and then
// removes it from the list.
func (l *level) windowAggregate(w *window, call *pg.FuncCall) error {
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
	w.agg = l.aggs[last]
	l.aggs = l.aggs[:last]
	l.refs = slices.DeleteFunc(l.refs, func(r *slotRef) bool { return r.slot == w.agg.slot })
	if call.AggDistinct || len(call.AggOrder) > 0 {
		return pgerror.Unsupported("DISTINCT or ORDER BY in a window function").At(l.p.Text, call.Location)
	}
	return nil
}

func (l *level) windowKeys(list []*pg.Node) ([]sortKey, error) {
	var keys []sortKey
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

// windowRow is a row with its keys for the window being computed.
type windowRow struct{ row, partition, order []value.Datum }

// fill computes a window for all rows, and returns the rows in its order.
func (w *window) fill(rows [][]value.Datum, env *expr.Env) ([][]value.Datum, error) {
	sorted := make([]windowRow, len(rows))
	for i, row := range rows {
		copy(env.Rows[0], row)
		partition, err := evalKeys(w.partition, env)
		if err != nil {
			return nil, err
		}
		order, err := evalKeys(w.order, env)
		if err != nil {
			return nil, err
		}
		sorted[i] = windowRow{row, partition, order}
	}
	keys := slices.Concat(w.partition, w.order)
	if err := sortBy(sorted, keys, func(r windowRow) []value.Datum { return slices.Concat(r.partition, r.order) }); err != nil {
		return nil, err
	}
	for from := 0; from < len(sorted); {
		to := from + 1
		for to < len(sorted) && same(w.partition, sorted[from].partition, sorted[to].partition) {
			to++
		}
		if err := w.fillPartition(sorted[from:to], env); err != nil {
			return nil, err
		}
		from = to
	}
	for i := range sorted {
		rows[i] = sorted[i].row
	}
	return rows, nil
}

func same(keys []sortKey, a, b []value.Datum) bool {
	c, err := compareKeys(keys, a, b)
	return c == 0 && err == nil
}

// fillPartition handles the rows of a partition in groups of peers: rows that are equal in the
// order.
func (w *window) fillPartition(rows []windowRow, env *expr.Env) error {
	var sum *aggregateRun
	if w.agg != nil {
		sum = &aggregateRun{aggregate: w.agg, sum: w.agg.fn.Aggregate()}
	}
	dense := int64(0)
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && same(w.order, rows[from].order, rows[to].order) {
			to++
		}
		dense++
		var result value.Datum
		switch {
		case w.rank == rank:
			result = int64(from + 1)
		case w.rank == denseRank:
			result = dense
		case sum != nil:
			for _, r := range rows[from:to] {
				copy(env.Rows[0], r.row)
				if err := sum.row(env); err != nil {
					return err
				}
			}
			var err error
			if result, err = sum.result(env); err != nil {
				return err
			}
		}
		for i := from; i < to; i++ {
			if w.rank == rowNumber {
				result = int64(i + 1)
			}
			rows[i].row[w.slot] = result
		}
		from = to
	}
	return nil
}
