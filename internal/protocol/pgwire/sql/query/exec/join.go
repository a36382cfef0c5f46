package exec

import (
	"slices"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Join combines rows of a left and a right side, each of which fills in its own slots. The right
// rows are read once and kept, unless they depend on the left row.
type Join struct {
	OuterLeft, OuterRight bool // a row of this side without a partner is a row of the join
	Begin                 int  // the slots of the left side are from Begin up to From
	From, To              int  // slots of the right side
	Again                 bool // the right side is read again for each left row
	On                    []expr.Expr
	Merged                []MergedColumn
	Keys                  []JoinKey // those conditions of On that are equalities for looking up rows
}

// MergedColumn is a USING column of a full join.
type MergedColumn struct{ Slot, Left, Right int }

// JoinKey is an equality between an expression of the left rows and one of the right rows.
type JoinKey struct {
	Left, Right expr.Expr
	Type        *value.Type // the type for comparing them
}

// JoinRun is a running join. The caller calls Left for each left row, then Finish.
type JoinRun struct {
	*Join
	env     *expr.Env
	right   func(env *expr.Env, emit func() error) error
	emit    func() error
	lone    bool
	rows    [][]value.Datum // of the right side
	matched []bool          // right rows that found a partner; for OuterRight
	index   map[string][]int
	loaded  bool
}

// Start begins a run. right reads the right side. lone means that no row has a partner.
func (j *Join) Start(env *expr.Env, right func(env *expr.Env, emit func() error) error, lone bool, emit func() error) *JoinRun {
	return &JoinRun{Join: j, env: env, right: right, lone: lone, emit: emit}
}

// Left joins the left row in the slots to its partners.
func (r *JoinRun) Left() error {
	found := false
	pair := func() error {
		if ok, err := expr.AllHold(r.On, r.env); err != nil || !ok {
			return err
		}
		found = true
		return r.give()
	}
	if err := r.Partners(pair); err != nil {
		return err
	}
	if !found && r.OuterLeft {
		clear(r.env.Rows[0][r.From:r.To])
		return r.give()
	}
	return nil
}

// give emits the joined row.
func (r *JoinRun) give() error {
	row := r.env.Rows[0]
	for _, m := range r.Merged {
		if row[m.Slot] = row[m.Left]; row[m.Slot] == nil {
			row[m.Slot] = row[m.Right]
		}
	}
	return r.emit()
}

// Partners calls pair for each right row that may match the left row.
func (r *JoinRun) Partners(pair func() error) error {
	if r.lone {
		return nil
	}
	if r.Again {
		return r.right(r.env, pair)
	}
	if err := r.load(); err != nil {
		return err
	}
	try := func(i int) error {
		copy(r.env.Rows[0][r.From:r.To], r.rows[i])
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
func (r *JoinRun) note(i int, pair func() error) error {
	if ok, err := expr.AllHold(r.On, r.env); err != nil || !ok {
		return err
	}
	r.matched[i] = true
	return pair()
}

// load reads the right rows.
func (r *JoinRun) load() error {
	if r.loaded {
		return nil
	}
	r.loaded = true
	if len(r.Keys) > 0 {
		r.index = map[string][]int{}
	}
	left := slices.Clone(r.env.Rows[0][r.Begin:r.From])
	var heap expr.Heap
	err := r.right(r.env, func() error {
		if r.index != nil {
			key, ok, err := r.key(false)
			if err != nil {
				return err
			}
			if ok {
				r.index[key] = append(r.index[key], len(r.rows))
			}
		}
		r.rows = append(r.rows, slices.Clone(r.env.Rows[0][r.From:r.To]))
		return heap.Keep(r.env.Rows[0][r.From:r.To])
	})
	copy(r.env.Rows[0][r.Begin:r.From], left)
	if r.OuterRight {
		r.matched = make([]bool, len(r.rows))
	}
	return err
}

// key returns the key of the current row. ok is false if it contains a NULL, which equals nothing.
func (r *JoinRun) key(left bool) (key string, ok bool, err error) {
	var buf []byte
	for _, k := range r.Keys {
		e := k.Right
		if left {
			e = k.Left
		}
		d, err := e.Eval(r.env)
		if err != nil || d == nil {
			return "", false, err
		}
		buf = value.AppendKey(buf, k.Type, d)
	}
	return string(buf), true, nil
}

// Finish emits the right rows without a partner, if they are rows of the join.
func (r *JoinRun) Finish() error {
	if !r.OuterRight {
		return nil
	}
	if err := r.load(); err != nil {
		return err
	}
	row := r.env.Rows[0]
	for i, right := range r.rows {
		if r.matched[i] {
			continue
		}
		clear(row[r.Begin:r.From])
		copy(row[r.From:r.To], right)
		if err := r.give(); err != nil {
			return err
		}
	}
	return nil
}
