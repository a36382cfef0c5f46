package query

import (
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
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
	count          *rowCounter
	groups         *groups
	waiting        [][]value.Datum // for the window functions
	kept           []keptRow
	given          map[string]bool // DISTINCT
	heap           expr.Heap       // of waiting, kept and given
}

// keptRow is a row to be sorted.
type keptRow struct{ row, keys []value.Datum }

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
	if r.count, err = q.limits.start(env); err != nil || r.count.left == 0 {
		return err
	}
	if r.open, err = q.open(env); err != nil {
		return err
	}
	r.result = make([]value.Datum, len(q.out))
	return r.count.stopped(r.steps())
}

// steps passes all rows of FROM through the query.
func (r *selectRun) steps() error {
	if r.group != nil {
		r.groups = r.group.start()
	}
	if r.distinct {
		r.given = map[string]bool{}
	}
	err := r.scan()
	if err == nil && r.groups != nil {
		err = r.groups.each(r.env, r.grouped)
	}
	if err == nil && len(r.windows) > 0 {
		err = r.windowed()
	}
	if err != nil || !r.sorts() {
		return err
	}
	return r.sorted()
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
	if ok, err := allHold(r.where, r.env); err != nil || !ok {
		return err
	}
	if r.groups != nil {
		return r.groups.row(r.env)
	}
	return r.grouped()
}

// sorts reports whether all rows must be read before the first is returned.
func (r *selectRun) sorts() bool { return len(r.order) > 0 }

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
		if r.waiting, err = w.fill(r.waiting, r.env); err != nil {
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
		return expand(r.sets, r.env, r.expanded)
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
	if !r.sorts() {
		return r.ordered()
	}
	keys, err := evalKeys(r.order, r.env)
	if err != nil {
		return err
	}
	r.kept = append(r.kept, keptRow{slices.Clone(r.row), keys})
	if most := r.most(); most >= 0 && len(r.kept) >= 2*most+spareRows {
		return r.cut(most)
	}
	return r.keep(r.kept[len(r.kept)-1])
}

func (r *selectRun) keep(k keptRow) error {
	if err := r.heap.Keep(k.keys); err != nil {
		return err
	}
	return r.heap.Keep(k.row)
}

// spareRows is the number of rows kept beyond LIMIT before they are sorted and cut.
const spareRows = 1000

// most returns the maximum number of sorted rows needed; negative: no limit.
func (r *selectRun) most() int {
	if r.count.left < 0 || len(r.on) > 0 || len(r.sets) > 0 || r.distinct || len(r.windows) > 0 || r.count.skip+r.count.left > maxCut {
		return -1
	}
	return int(r.count.skip + r.count.left)
}

// maxCut is the maximum number of rows for which cutting is worthwhile.
const maxCut = 1 << 20

// cut drops all but the first n rows in the sort order.
func (r *selectRun) cut(n int) error {
	if err := sortBy(r.kept, r.order, func(k keptRow) []value.Datum { return k.keys }); err != nil {
		return err
	}
	clear(r.kept[n:])
	r.kept, r.heap = r.kept[:n], expr.Heap{}
	for _, k := range r.kept {
		if err := r.keep(k); err != nil {
			return err
		}
	}
	return nil
}

// seen reports whether the values of these expressions occurred before.
func (r *selectRun) seen(list []expr.Expr) (bool, error) {
	var buf []byte
	for _, e := range list {
		d, err := e.Eval(r.env)
		if err != nil {
			return false, err
		}
		buf = value.AppendKey(buf, e.Type(), d)
	}
	if r.given == nil {
		r.given = map[string]bool{}
	}
	if r.given[string(buf)] {
		return true, nil
	}
	r.given[string(buf)] = true
	return false, r.heap.KeepText(len(buf))
}

func (r *selectRun) sorted() error {
	if err := sortBy(r.kept, r.order, func(k keptRow) []value.Datum { return k.keys }); err != nil {
		return err
	}
	for _, k := range r.kept {
		copy(r.row, k.row)
		if err := r.ordered(); err != nil {
			return err
		}
	}
	return nil
}

// ordered handles a row in sort order.
func (r *selectRun) ordered() error {
	if len(r.on) > 0 {
		if again, err := r.seen(r.on); err != nil || again {
			return err
		}
	}
	if len(r.sets) > 0 && !r.early {
		return expand(r.sets, r.env, r.give)
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
	return r.count.pass(r.result, r.away)
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
