package exec

import (
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Window is one call of a window function: a ranking function, or an aggregate over the rows of a
// partition up to the current row.
type Window struct {
	Rank      Rank
	Agg       *Aggregate // used instead of Rank
	Partition []SortKey
	Order     []SortKey
	Slot      int
}

// Rank is a ranking function.
type Rank byte

// The ranking functions, and none.
const (
	NoRank Rank = iota
	RowNumber
	PlainRank
	DenseRank
)

// windowRow is a row with its keys for the window being computed.
type windowRow struct{ row, partition, order []value.Datum }

// Fill computes a window for all rows, and returns the rows in its order.
func (w *Window) Fill(rows [][]value.Datum, env *expr.Env) ([][]value.Datum, error) {
	sorted := make([]windowRow, len(rows))
	for i, row := range rows {
		copy(env.Rows[0], row)
		partition, err := evalKeys(w.Partition, env)
		if err != nil {
			return nil, err
		}
		order, err := evalKeys(w.Order, env)
		if err != nil {
			return nil, err
		}
		sorted[i] = windowRow{row, partition, order}
	}
	keys := slices.Concat(w.Partition, w.Order)
	if err := Sort(sorted, keys, func(r windowRow) []value.Datum { return slices.Concat(r.partition, r.order) }); err != nil {
		return nil, err
	}
	for from := 0; from < len(sorted); {
		to := from + 1
		for to < len(sorted) && same(w.Partition, sorted[from].partition, sorted[to].partition) {
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

func same(keys []SortKey, a, b []value.Datum) bool {
	c, err := compareKeys(keys, a, b)
	return c == 0 && err == nil
}

// fillPartition handles the rows of a partition in groups of peers: rows that are equal in the
// order.
func (w *Window) fillPartition(rows []windowRow, env *expr.Env) error {
	var sum *aggregateRun
	if w.Agg != nil {
		sum = &aggregateRun{Aggregate: w.Agg, sum: w.Agg.Fn.Aggregate()}
	}
	dense := int64(0)
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && same(w.Order, rows[from].order, rows[to].order) {
			to++
		}
		dense++
		var result value.Datum
		switch {
		case w.Rank == PlainRank:
			result = int64(from + 1)
		case w.Rank == DenseRank:
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
			if w.Rank == RowNumber {
				result = int64(i + 1)
			}
			rows[i].row[w.Slot] = result
		}
		from = to
	}
	return nil
}
