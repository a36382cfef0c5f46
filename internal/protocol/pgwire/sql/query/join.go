package query

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/query/exec"
)

// join combines the rows of two sources.
type join struct {
	exec.Join
	kind        pg.JoinType
	left, right source
	gates       []expr.Expr // of an inner join: evaluated once, before either side is read
}

func newJoin(kind pg.JoinType, begin int) *join {
	full := kind == pg.JoinType_JOIN_FULL
	return &join{kind: kind, Join: exec.Join{
		OuterLeft: full || kind == pg.JoinType_JOIN_LEFT, OuterRight: full || kind == pg.JoinType_JOIN_RIGHT, Begin: begin}}
}

func (j *join) run(env *expr.Env, emit func() error) error {
	if ok, err := expr.AllHold(j.gates, env); err != nil || !ok || j.none(env) {
		return err
	}
	lone := j.lonely(env)
	r := j.Start(env, j.right.run, lone, emit)
	if !lone || j.OuterLeft {
		if err := j.readLeft(env, r); err != nil {
			return err
		}
	}
	return r.Finish()
}

// readLeft reads the left side. If that defers columns, a row is wanted only if it has a partner by
// the conditions that do not mention them.
func (j *join) readLeft(env *expr.Env, r *exec.JoinRun) error {
	s, ok := j.left.(*queryScan)
	if !ok || s.deferred == nil || j.kind != pg.JoinType_JOIN_INNER || j.Again {
		return j.left.run(env, r.Left)
	}
	on := slices.DeleteFunc(slices.Clone(j.On), s.depends)
	if len(on) == 0 || slices.ContainsFunc(j.Keys, func(k exec.JoinKey) bool { return s.depends(k.Left) }) {
		return j.left.run(env, r.Left)
	}
	return s.runIf(env, func() (found bool, err error) {
		err = r.Partners(func() error {
			if found, err = expr.AllHold(on, env); err != nil || !found {
				return err
			}
			return exec.ErrStop
		})
		if found {
			return true, nil
		}
		return false, err
	}, r.Left)
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
