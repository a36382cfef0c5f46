package sql

import (
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/parse"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Run runs the statements of text inside the transaction that env belongs to, for functions that
// run SQL. An error does not abort the transaction: the caller undoes the changes (with
// Work.Savepoint before and RollbackTo after). Transaction commands are rejected. row may be nil; a
// row is valid until it returns.
func (s *Session) Run(env *expr.Env, text string, types []*value.Type, args []value.Datum, row func([]value.Datum) error) error {
	s.inner++
	defer func() { s.inner-- }()
	if row == nil {
		row = func([]value.Datum) error { return nil }
	}
	tree, err := parse.Parse(text)
	if err != nil {
		return err
	}
	for _, raw := range tree.Stmts {
		made, _, err := s.planStatement(&Prepared{Text: text, stmt: raw.Stmt, source: sourceOf(text, raw)}, types)
		if err != nil {
			return err
		}
		if err := s.runPlan(env, made, args, row); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) runPlan(env *expr.Env, made *plan, args []value.Datum, row func([]value.Datum) error) error {
	if made.transaction != nil {
		return pgerror.New(pgerror.FeatureNotSupported, "EXECUTE of transaction commands is not implemented")
	}
	if err := s.beginQuery(made); err != nil {
		return err
	}
	inner := s.env(env.Ctx)
	inner.Params, inner.Ends = args, &expr.Ends{}
	defer inner.Ends.Run()
	return made.rows(inner, row)
}
