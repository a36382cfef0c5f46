package exec

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Aggregate is one call of an aggregate function.
type Aggregate struct {
	Fn       *expr.Function
	Args     []expr.Expr
	Distinct bool
	Order    []SortKey
	Filter   expr.Expr
	Slot     int
}

// group is the set of rows with the same grouping keys.
type group struct {
	keys  []value.Datum
	state []*aggregateRun
}

// groupBytes is the approximate overhead of a group beyond its key, and again of each aggregate.
const groupBytes = 100

// aggregateRun is an aggregate being computed for one group.
type aggregateRun struct {
	*Aggregate
	sum  expr.Aggregator
	held []heldArguments // buffered for sorting or DISTINCT
	heap expr.Heap       // of held
}

type heldArguments struct{ args, keys []value.Datum }

// Grouping is GROUP BY with its aggregates.
type Grouping struct {
	Keys   []expr.Expr
	Slots  []int // of the keys
	Aggs   []*Aggregate
	Having expr.Expr
}

// Groups is a running grouping. Groups are output in the order of their first rows.
type Groups struct {
	*Grouping
	byKey map[string]*group
	order []*group
	buf   []byte
	heap  expr.Heap
}

// Start returns the groups of no rows.
func (g *Grouping) Start() *Groups {
	r := &Groups{Grouping: g, byKey: map[string]*group{}}
	if len(g.Keys) == 0 {
		r.add("", nil) // without GROUP BY there is one group, even for no rows
	}
	return r
}

func (r *Groups) add(key string, keys []value.Datum) *group {
	g := &group{keys: keys, state: make([]*aggregateRun, len(r.Aggs))}
	for i, a := range r.Aggs {
		g.state[i] = &aggregateRun{Aggregate: a, sum: a.Fn.Aggregate()}
	}
	r.byKey[key] = g
	r.order = append(r.order, g)
	return g
}

// Row adds the current row to its group.
func (r *Groups) Row(env *expr.Env) error {
	if err := env.Ctx.Err(); err != nil {
		return err
	}
	r.buf = r.buf[:0]
	row := env.Rows[0]
	for i, k := range r.Keys {
		d, err := k.Eval(env)
		if err != nil {
			return err
		}
		row[r.Slots[i]] = d
		r.buf = value.AppendKey(r.buf, k.Type(), d)
	}
	g := r.byKey[string(r.buf)]
	if g == nil {
		keys := make([]value.Datum, len(r.Keys))
		for i, slot := range r.Slots {
			keys[i] = row[slot]
		}
		g = r.add(string(r.buf), keys)
		if err := r.heap.KeepText(len(r.buf) + groupBytes*(1+len(r.Aggs))); err != nil {
			return err
		}
	}
	for _, a := range g.state {
		if err := a.row(env); err != nil {
			return err
		}
	}
	return nil
}

func (a *aggregateRun) row(env *expr.Env) error {
	if a.Filter != nil {
		if ok, err := expr.Holds(a.Filter, env); err != nil || !ok {
			return err
		}
	}
	args, none, err := arguments(a.Fn, a.Args, env)
	if err != nil || none {
		return err
	}
	if !a.Distinct && a.Order == nil {
		return a.sum.Add(env, args)
	}
	keys, err := evalKeys(a.Order, env)
	if err != nil {
		return err
	}
	a.held = append(a.held, heldArguments{args, keys})
	if err := a.heap.Keep(keys); err != nil {
		return err
	}
	return a.heap.Keep(args)
}

// result returns the aggregate's result.
func (a *aggregateRun) result(env *expr.Env) (value.Datum, error) {
	held := a.held
	if a.Distinct && len(held) > 0 {
		var err error
		if held, err = a.distinctArguments(held); err != nil {
			return nil, err
		}
	}
	if a.Order != nil {
		if err := Sort(held, a.Order, func(h heldArguments) []value.Datum { return h.keys }); err != nil {
			return nil, err
		}
	}
	for _, h := range held {
		if err := a.sum.Add(env, h.args); err != nil {
			return nil, err
		}
	}
	return a.sum.Result(env)
}

// distinctArguments keeps the first of equal arguments, sorted by the arguments, as in PostgreSQL.
func (a *aggregateRun) distinctArguments(held []heldArguments) ([]heldArguments, error) {
	seen := map[string]bool{}
	var kept []heldArguments
	for _, h := range held {
		var key []byte
		for i, e := range a.Args {
			key = value.AppendKey(key, e.Type(), h.args[i])
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			kept = append(kept, h)
		}
	}
	var natural []SortKey
	for _, e := range a.Args {
		natural = append(natural, SortKey{Type: e.Type()})
	}
	err := Sort(kept, natural, func(h heldArguments) []value.Datum { return h.args })
	return kept, err
}

// Each fills in the slots of each group and calls emit for the groups that satisfy HAVING.
func (r *Groups) Each(env *expr.Env, emit func() error) error {
	row := env.Rows[0]
	for _, g := range r.order {
		for i, slot := range r.Slots {
			row[slot] = g.keys[i]
		}
		for _, a := range g.state {
			d, err := a.result(env)
			if err != nil {
				return err
			}
			row[a.Slot] = d
		}
		if r.Having != nil {
			if ok, err := expr.Holds(r.Having, env); err != nil {
				return err
			} else if !ok {
				continue
			}
		}
		if err := emit(); err != nil {
			return err
		}
	}
	return nil
}
