package query

import (
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// selectRun is a running SELECT.
type selectRun struct {
	*selectQuery
	env            *expr.Env
	emit           func([]value.Datum) error
	deferred       []bool                            // the columns that are computed after wanted
	wanted         func([]value.Datum) (bool, error) // nil: every row is
	row            []value.Datum
	around, inside [][]value.Datum
	open           bool // FROM must be read
	result         []value.Datum
	count          *exec.Counter
	groups         *exec.Groups
	waiting        [][]value.Datum // for the window functions
	sorter         *exec.Sorter    // nil: the rows are not sorted
	given          exec.Seen       // DISTINCT
	key            []byte          // of the current row in given
	heap           expr.Heap       // of waiting, sorter and given
}

func (q *selectQuery) run(env *expr.Env, emit func([]value.Datum) error) error {
	return q.runIf(env, nil, nil, emit)
}

// runIf is run for the rows for which wanted returns true, which is called before the deferred
// columns are computed; nil: for all rows.
func (q *selectQuery) runIf(env *expr.Env, deferred []bool, wanted func([]value.Datum) (bool, error), emit func([]value.Datum) error) error {
	r := &selectRun{selectQuery: q, env: env, emit: emit, deferred: deferred, wanted: wanted}
	r.row, r.around, r.inside = q.l.push(env)
	env.Rows = r.inside
	defer func() { env.Rows = r.around }()
	var err error
	if r.count, err = q.limits.Start(env); err != nil || r.count.None() {
		return err
	}
	if r.open, err = q.open(env); err != nil {
		return err
	}
	r.result = make([]value.Datum, len(q.out))
	return r.count.Stopped(r.steps())
}

// steps passes all rows of FROM through the query.
func (r *selectRun) steps() error {
	if r.group != nil {
		r.groups = r.group.Start()
	}
	if r.distinct || len(r.on) > 0 {
		r.given = exec.NewSeen(&r.heap)
	}
	if len(r.order) > 0 {
		r.sorter = exec.NewSorter(r.order, r.first(), &r.heap)
	}
	err := r.scan()
	if err == nil && r.groups != nil {
		err = r.groups.Each(r.env, r.grouped)
	}
	if err == nil && len(r.windows) > 0 {
		err = r.windowed()
	}
	if err != nil || r.sorter == nil {
		return err
	}
	return r.sorter.Each(r.env, r.ordered)
}

func (r *selectRun) scan() error {
	if !r.open {
		return nil
	}
	if r.from == nil {
		return r.scanned()
	}
	return r.from.run(r.env, r.scanned)
}

// scanned handles a row of FROM.
func (r *selectRun) scanned() error {
	if ok, err := expr.AllHold(r.where, r.env); err != nil || !ok {
		return err
	}
	if r.groups != nil {
		return r.groups.Row(r.env)
	}
	return r.grouped()
}

// grouped handles the row of a group, or any row if there is no grouping.
func (r *selectRun) grouped() error {
	if len(r.windows) > 0 {
		r.waiting = append(r.waiting, slices.Clone(r.row))
		return r.heap.Keep(r.row)
	}
	return r.whole()
}

// windowed computes the window functions, which require all rows.
func (r *selectRun) windowed() error {
	for _, w := range r.windows {
		var err error
		if r.waiting, err = w.Fill(r.waiting, r.env); err != nil {
			return err
		}
	}
	for _, row := range r.waiting {
		copy(r.row, row)
		if err := r.whole(); err != nil {
			return err
		}
	}
	return nil
}

// whole handles a row that is complete except for set-returning functions.
func (r *selectRun) whole() error {
	if r.early && len(r.sets) > 0 {
		return exec.Expand(r.sets, r.env, r.expanded)
	}
	return r.expanded()
}

// expanded handles a row before sorting.
func (r *selectRun) expanded() error {
	for _, c := range r.before {
		d, err := c.e.Eval(r.env)
		if err != nil {
			return err
		}
		r.row[c.slot] = d
	}
	if r.distinct {
		again, err := r.seen(r.out)
		if err != nil || again {
			return err
		}
	}
	if r.sorter == nil {
		return r.ordered()
	}
	return r.sorter.Add(r.env)
}

// first returns how many of the rows to be sorted are needed; negative: all.
func (r *selectRun) first() int {
	if len(r.on) > 0 || len(r.sets) > 0 || r.distinct || len(r.windows) > 0 {
		return -1
	}
	return r.count.First()
}

// seen reports whether the values of these expressions occurred before.
func (r *selectRun) seen(list []expr.Expr) (bool, error) {
	r.key = r.key[:0]
	for _, e := range list {
		d, err := e.Eval(r.env)
		if err != nil {
			return false, err
		}
		r.key = value.AppendKey(r.key, e.Type(), d)
	}
	return r.given.Again(r.key)
}

// ordered handles a row in sort order.
func (r *selectRun) ordered() error {
	if len(r.on) > 0 {
		if again, err := r.seen(r.on); err != nil || again {
			return err
		}
	}
	if len(r.sets) > 0 && !r.early {
		return exec.Expand(r.sets, r.env, r.give)
	}
	return r.give()
}

// give computes the columns and emits the row.
func (r *selectRun) give() error {
	if err := r.fill(false); err != nil {
		return err
	}
	if r.wanted != nil {
		r.env.Rows = r.around
		ok, err := r.wanted(r.result)
		r.env.Rows = r.inside
		if err != nil || !ok {
			return err
		}
		if err := r.fill(true); err != nil {
			return err
		}
	}
	return r.count.Pass(r.result, r.away)
}

// fill works out the columns that are deferred, or the others.
func (r *selectRun) fill(deferred bool) error {
	for i, e := range r.out {
		if r.deferred != nil && r.deferred[i] != deferred {
			continue
		}
		d, err := e.Eval(r.env)
		if err != nil {
			return err
		}
		r.result[i] = d
	}
	return nil
}

// away passes a row to the enclosing query.
func (r *selectRun) away(row []value.Datum) error {
	r.env.Rows = r.around
	err := r.emit(row)
	r.env.Rows = r.inside
	return err
}
