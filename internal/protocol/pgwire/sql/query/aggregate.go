package query

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
)

// aggregate is the Aggregate hook of the compiler.
func (l *level) aggregate(call *pg.FuncCall, fn *expr.Function, args []expr.Expr) (expr.Expr, error) {
	if !l.clause.aggregates {
		return nil, l.error(pgerror.GroupingError, call.Location, "aggregate functions are not allowed in %s", l.clause.name)
	}
	if call.AggWithinGroup {
		return nil, pgerror.Unsupported("WITHIN GROUP").At(l.p.Text, call.Location)
	}
	a := &exec.Aggregate{Fn: fn, Args: args, Distinct: call.AggDistinct}
	around := l.clause
	l.clause = clause{name: "an aggregate function's arguments"}
	defer func() { l.clause = around }()
	var err error
	if call.AggFilter != nil {
		if a.Filter, err = l.compiler().CompileBool(call.AggFilter, "FILTER"); err != nil {
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
		a.Order = append(a.Order, newSortKey(e, sort))
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
	a.Slot = l.slot(1)
	l.aggs = append(l.aggs, a)
	ref := &slotRef{slot: a.Slot, typ: fn.Returns, name: aggregateName}
	l.refs = append(l.refs, ref)
	return ref, nil
}

// aggregateName is the name of the slots of aggregates. No column has this name.
const aggregateName = "\x00aggregate"
