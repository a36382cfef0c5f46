package expr

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// sessionValue is a value that depends on the session, such as its user or time.
type sessionValue struct {
	t    *value.Type
	mod  int32
	eval func(env *Env) (value.Datum, error)
}

// Type implements Expr.
func (s *sessionValue) Type() *value.Type { return s.t }

// Typmod implements modified.
func (s *sessionValue) Typmod() int32 { return s.mod }

// Volatility implements Dependent.
func (s *sessionValue) Volatility() Volatility { return Stable }

// Eval implements Expr.
func (s *sessionValue) Eval(env *Env) (value.Datum, error) { return s.eval(env) }

// nowAs returns the start time of the transaction as a value of t with the precision of a typmod.
func nowAs(t *value.Type, mod int32) func(env *Env) (value.Datum, error) {
	return func(env *Env) (value.Datum, error) {
		return value.Cast(value.TimestampTZType, t, env.Now, mod, true, &env.Settings)
	}
}

func (c *Compiler) sqlValue(n *pg.SQLValueFunction) (Expr, error) {
	named := func(eval func(env *Env) value.Datum) (Expr, error) {
		return &sessionValue{t: value.Name, mod: -1, eval: func(env *Env) (value.Datum, error) { return eval(env), nil }}, nil
	}
	timed := func(t *value.Type, mod int32) (Expr, error) {
		return &sessionValue{t: t, mod: mod, eval: nowAs(t, mod)}, nil
	}
	switch n.Op {
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_DATE:
		return timed(value.DateType, -1)
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP:
		return timed(value.TimestampTZType, -1)
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N:
		return timed(value.TimestampTZType, n.Typmod)
	case pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP:
		return timed(value.TimestampType, -1)
	case pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:
		return timed(value.TimestampType, n.Typmod)
	case pg.SQLValueFunctionOp_SVFOP_LOCALTIME:
		return timed(value.TimeType, -1)
	case pg.SQLValueFunctionOp_SVFOP_LOCALTIME_N:
		return timed(value.TimeType, n.Typmod)
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_USER, pg.SQLValueFunctionOp_SVFOP_CURRENT_ROLE, pg.SQLValueFunctionOp_SVFOP_USER,
		pg.SQLValueFunctionOp_SVFOP_SESSION_USER:
		return named(func(env *Env) value.Datum { return env.User })
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:
		return named(func(env *Env) value.Datum { return env.Database })
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:
		return named((*Env).CurrentSchema)
	}
	return nil, c.refuse("CURRENT_TIME is not supported: there are no times with a zone", n.Location)
}

// The supported collations; all of them order by bytes.
var collations = map[string]bool{"C": true, "POSIX": true, "default": true, "ucs_basic": true, "C.UTF-8": true}

func (c *Compiler) collate(n *pg.CollateClause) (Expr, error) {
	e, err := c.Compile(n.Arg)
	if err != nil {
		return nil, err
	}
	if t := e.Type(); t != value.Unknown && t.Category != 'S' && !(t.IsArray() && t.Elem.Category == 'S') {
		return nil, pgerror.New(pgerror.DatatypeMismatch, "collations are not supported by type %s", t).At(c.Text, n.Location)
	}
	if _, name := splitName(n.Collname); !collations[name] {
		return nil, pgerror.New(pgerror.UndefinedObject, "collation \"%s\" for encoding \"UTF8\" does not exist", operatorName(n.Collname)).
			At(c.Text, n.Location)
	}
	return e, nil
}
