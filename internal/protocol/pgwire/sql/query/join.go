package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// join combines the rows of two sources. The rows of the right source are read once and kept,
// unless they depend on the left row.
type join struct {
	kind        pg.JoinType
	left, right source
	begin       int // the slots of left are from begin up to from
	from, to    int // slots of right
	again       bool
	gates       []expr.Expr // of an inner join: evaluated once, before either side is read
	on          []expr.Expr
	merged      []mergedColumn
	// keys are those conditions of on that are equalities for looking up rows.
	keys []joinKey
}

// mergedColumn is a USING column of a full join.
type mergedColumn struct{ slot, left, right int }

// joinKey is an equality between an expression of the left rows and one of the right rows.
type joinKey struct {
	left, right expr.Expr
	typ         *value.Type // the type for comparing them
}

// joinRun is a running join.
type joinRun struct {
	*join
	env     *expr.Env
	emit    func() error
	rows    [][]value.Datum // of right
	matched []bool          // right rows that found a partner; for right and full joins
	index   map[string][]int
	loaded  bool
	lone    bool // no left row has a partner
}

func (j *join) run(env *expr.Env, emit func() error) error {
	if ok, err := expr.AllHold(j.gates, env); err != nil || !ok || j.none(env) {
		return err
	}
	r := &joinRun{join: j, env: env, emit: emit, lone: j.lonely(env)}
	if r.lone && j.kind == pg.JoinType_JOIN_RIGHT {
		return r.lonelyRight()
	}
	if err := r.readLeft(); err != nil {
		return err
	}
	if j.kind == pg.JoinType_JOIN_RIGHT || j.kind == pg.JoinType_JOIN_FULL {
		return r.lonelyRight()
	}
	return nil
}

// outerLeft reports whether a left row without a partner is a row of the join.
func (j *join) outerLeft() bool {
	return j.kind == pg.JoinType_JOIN_LEFT || j.kind == pg.JoinType_JOIN_FULL
}

func (r *joinRun) leftRow() error {
	found := false
	pair := func() error {
		if ok, err := expr.AllHold(r.on, r.env); err != nil || !ok {
			return err
		}
		found = true
		return r.give()
	}
	if err := r.partners(pair); err != nil {
		return err
	}
	if !found && r.outerLeft() {
		clear(r.env.Rows[0][r.from:r.to])
		return r.give()
	}
	return nil
}

// give emits the joined row.
func (r *joinRun) give() error {
	row := r.env.Rows[0]
	for _, m := range r.merged {
		if row[m.slot] = row[m.left]; row[m.slot] == nil {
			row[m.slot] = row[m.right]
		}
	}
	return r.emit()
}

// partners calls pair for each right row that may match the left row.
func (r *joinRun) partners(pair func() error) error {
	if r.lone {
		return nil
	}
	if r.again {
		return r.right.run(r.env, pair)
	}
	if err := r.load(); err != nil {
		return err
	}
	try := func(i int) error {
		copy(r.env.Rows[0][r.from:r.to], r.rows[i])
		if r.matched == nil {
			return pair()
		}
		return r.note(i, pair)
	}
	if r.index != nil {
		key, ok, err := r.key(true)
		if err != nil || !ok {
			return err
		}
		for _, i := range r.index[key] {
			if err := try(i); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range r.rows {
		if err := r.env.Ctx.Err(); err != nil {
			return err
		}
		if err := try(i); err != nil {
			return err
		}
	}
	return nil
}

// note is pair, and records that the right row found a partner.
func (r *joinRun) note(i int, pair func() error) error {
	if ok, err := expr.AllHold(r.on, r.env); err != nil || !ok {
		return err
	}
	r.matched[i] = true
	return pair()
}

// load reads the right rows.
func (r *joinRun) load() error {
	if r.loaded {
		return nil
	}
	r.loaded = true
	if len(r.keys) > 0 {
		r.index = map[string][]int{}
	}
	left := slices.Clone(r.env.Rows[0][r.begin:r.from])
	var heap expr.Heap
	err := r.right.run(r.env, func() error {
		if r.index != nil {
			key, ok, err := r.key(false)
			if err != nil {
				return err
			}
			if ok {
				r.index[key] = append(r.index[key], len(r.rows))
			}
		}
		r.rows = append(r.rows, slices.Clone(r.env.Rows[0][r.from:r.to]))
		return heap.Keep(r.env.Rows[0][r.from:r.to])
	})
	copy(r.env.Rows[0][r.begin:r.from], left)
	if r.kind == pg.JoinType_JOIN_RIGHT || r.kind == pg.JoinType_JOIN_FULL {
		r.matched = make([]bool, len(r.rows))
	}
	return err
}

// key returns the key of the current row. ok is false if it contains a NULL, which equals nothing.
func (r *joinRun) key(left bool) (key string, ok bool, err error) {
	var buf []byte
	for _, k := range r.keys {
		e := k.right
		if left {
			e = k.left
		}
		d, err := e.Eval(r.env)
		if err != nil || d == nil {
			return "", false, err
		}
		buf = value.AppendKey(buf, k.typ, d)
	}
	return string(buf), true, nil
}

// lonelyRight emits the right rows without a partner.
func (r *joinRun) lonelyRight() error {
	if err := r.load(); err != nil {
		return err
	}
	row := r.env.Rows[0]
	for i, right := range r.rows {
		if r.matched[i] {
			continue
		}
		clear(row[r.begin:r.from])
		copy(row[r.from:r.to], right)
		if err := r.give(); err != nil {
			return err
		}
	}
	return nil
}

// filter passes the rows for which a condition holds.
type filter struct {
	in   source
	cond expr.Expr
}

func (f *filter) run(env *expr.Env, emit func() error) error {
	return f.in.run(env, func() error {
		if ok, err := expr.Holds(f.cond, env); err != nil || !ok {
			return err
		}
		return emit()
	})
}
