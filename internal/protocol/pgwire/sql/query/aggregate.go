package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// aggregate is one call of an aggregate function.
type aggregate struct {
	fn       *expr.Function
	args     []expr.Expr
	distinct bool
	order    []sortKey
	filter   expr.Expr
	slot     int
}

// aggregate is the Aggregate hook of the compiler.
func (l *level) aggregate(call *pg.FuncCall, fn *expr.Function, args []expr.Expr) (expr.Expr, error) {
	if !l.clause.aggregates {
		return nil, l.error(pgerror.GroupingError, call.Location, "aggregate functions are not allowed in %s", l.clause.name)
	}
	if call.AggWithinGroup {
		return nil, pgerror.Unsupported("WITHIN GROUP").At(l.p.Text, call.Location)
	}
	a := &aggregate{fn: fn, args: args, distinct: call.AggDistinct}
	around := l.clause
	l.clause = clause{name: "an aggregate function's arguments"}
	defer func() { l.clause = around }()
	var err error
	if call.AggFilter != nil {
		if a.filter, err = l.compiler().CompileBool(call.AggFilter, "FILTER"); err != nil {
			return nil, err
		}
	}
	for _, o := range call.AggOrder {
		sort := o.GetSortBy()
		e, err := l.compiler().Compile(sort.Node)
		if err != nil {
			return nil, err
		}
		if e, err = l.compiler().ResolveUnknown(e); err != nil {
			return nil, err
		}
		a.order = append(a.order, newSortKey(e, sort))
	}
	if from, ok := l.starts[call]; ok && from <= len(l.refs) {
		for _, nested := range l.refs[from:] {
			if nested.name == aggregateName && !l.keepRefs {
				return nil, l.error(pgerror.GroupingError, call.Location, "aggregate function calls cannot be nested")
			}
		}
		if !l.keepRefs {
			l.refs = l.refs[:from]
		}
	}
	a.slot = l.slot(1)
	l.aggs = append(l.aggs, a)
	ref := &slotRef{slot: a.slot, typ: fn.Returns, name: aggregateName}
	l.refs = append(l.refs, ref)
	return ref, nil
}

// aggregateName is the name of the slots of aggregates. No column has this name.
const aggregateName = "\x00aggregate"

// group is the set of rows with the same grouping keys.
type group struct {
	keys  []value.Datum
	state []*aggregateRun
}

// groupBytes is the approximate overhead of a group beyond its key, and again of each aggregate.
const groupBytes = 100

// aggregateRun is an aggregate being computed for one group.
type aggregateRun struct {
	*aggregate
	sum  expr.Aggregator
	held []heldArguments // buffered for sorting or DISTINCT
	heap expr.Heap       // of held
}

type heldArguments struct{ args, keys []value.Datum }

// grouping is GROUP BY with its aggregates.
type grouping struct {
	keys   []expr.Expr
	slots  []int // of the keys
	aggs   []*aggregate
	having expr.Expr
}

// groups is a running grouping. Groups are output in the order of their first rows.
type groups struct {
	*grouping
	byKey map[string]*group
	order []*group
	buf   []byte
	heap  expr.Heap
}

func (g *grouping) start() *groups {
	r := &groups{grouping: g, byKey: map[string]*group{}}
	if len(g.keys) == 0 {
		r.add("", nil) // without GROUP BY there is one group, even for no rows
	}
	return r
}

func (r *groups) add(key string, keys []value.Datum) *group {
	g := &group{keys: keys, state: make([]*aggregateRun, len(r.aggs))}
	for i, a := range r.aggs {
		g.state[i] = &aggregateRun{aggregate: a, sum: a.fn.Aggregate()}
	}
	r.byKey[key] = g
	r.order = append(r.order, g)
	return g
}

// row adds the current row to its group.
func (r *groups) row(env *expr.Env) error {
	if err := env.Ctx.Err(); err != nil {
		return err
	}
	r.buf = r.buf[:0]
	row := env.Rows[0]
	for i, k := range r.keys {
		d, err := k.Eval(env)
		if err != nil {
			return err
		}
		row[r.slots[i]] = d
		r.buf = value.AppendKey(r.buf, k.Type(), d)
	}
	g := r.byKey[string(r.buf)]
	if g == nil {
		keys := make([]value.Datum, len(r.keys))
		for i, slot := range r.slots {
			keys[i] = row[slot]
		}
		g = r.add(string(r.buf), keys)
		if err := r.heap.KeepText(len(r.buf) + groupBytes*(1+len(r.aggs))); err != nil {
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
	if a.filter != nil {
		if ok, err := holds(a.filter, env); err != nil || !ok {
			return err
		}
	}
	args, none, err := arguments(a.fn, a.args, env)
	if err != nil || none {
		return err
	}
	if !a.distinct && a.order == nil {
		return a.sum.Add(env, args)
	}
	keys, err := evalKeys(a.order, env)
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
	if a.distinct && len(held) > 0 {
		var err error
		if held, err = a.distinctArguments(held); err != nil {
			return nil, err
		}
	}
	if a.order != nil {
		if err := sortBy(held, a.order, func(h heldArguments) []value.Datum { return h.keys }); err != nil {
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
		for i, e := range a.args {
			key = value.AppendKey(key, e.Type(), h.args[i])
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			kept = append(kept, h)
		}
	}
	var natural []sortKey
	for _, e := range a.args {
		natural = append(natural, sortKey{typ: e.Type()})
	}
	err := sortBy(kept, natural, func(h heldArguments) []value.Datum { return h.args })
	return kept, err
}

// each fills in the slots of each group and calls emit for the groups that satisfy HAVING.
func (r *groups) each(env *expr.Env, emit func() error) error {
	row := env.Rows[0]
	for _, g := range r.order {
		for i, slot := range r.slots {
			row[slot] = g.keys[i]
		}
		for _, a := range g.state {
			d, err := a.result(env)
			if err != nil {
				return err
			}
			row[a.slot] = d
		}
		if r.having != nil {
			if ok, err := holds(r.having, env); err != nil {
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
