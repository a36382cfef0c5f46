package sql

import (
	"math"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/settings"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// sessionSchema is the part of pg_catalog about the session: its settings, prepared statements and
// cursors.
type sessionSchema struct {
	s         *Session
	functions map[string][]*expr.Function
	relations map[string]schema.Relation
}

func (c *sessionSchema) Name() string { return catalogName }

// Version is constant, because the contents are fixed.
func (c *sessionSchema) Version() uint64 { return 0 }

func (c *sessionSchema) Functions(_ *expr.Env, name string) []*expr.Function {
	return c.functions[name]
}

func (c *sessionSchema) AllFunctions(*expr.Env) []*expr.Function {
	var all []*expr.Function
	for _, named := range c.functions {
		all = append(all, named...)
	}
	return all
}

func (c *sessionSchema) Relation(_ *expr.Env, name string) schema.Relation {
	if r := c.relations[name]; r != nil {
		return r
	}
	return nil
}

func (c *sessionSchema) AllRelations(*expr.Env) []schema.Relation {
	var all []schema.Relation
	for _, r := range c.relations {
		all = append(all, r)
	}
	return all
}

func (c *sessionSchema) Type(string) *value.Type { return nil }

func newSessionSchema(s *Session) *sessionSchema {
	c := &sessionSchema{s: s, functions: map[string][]*expr.Function{}, relations: map[string]schema.Relation{}}
	text := func(name string) expr.Arg { return expr.Arg{Name: name, Type: value.Text} }
	c.add(&expr.Function{
		OID: 2077, Name: "current_setting", Args: []expr.Arg{text("")}, Strict: true, Volatility: expr.Stable, Returns: value.Text,
		Call: func(_ *expr.Env, args []value.Datum) (value.Datum, error) {
			return s.currentSetting(args[0].(string), false)
		},
	})
	c.add(&expr.Function{
		OID: 3294, Name: "current_setting", Args: []expr.Arg{text(""), {Type: value.Bool}}, Strict: true, Volatility: expr.Stable, Returns: value.Text,
		Call: func(_ *expr.Env, args []value.Datum) (value.Datum, error) {
			return s.currentSetting(args[0].(string), args[1].(bool))
		},
	})
	c.add(&expr.Function{
		OID: 2078, Name: "set_config", Args: []expr.Arg{text("setting_name"), text("new_value"), {Name: "is_local", Type: value.Bool}},
		Volatility: expr.Volatile, Returns: value.Text, Call: func(_ *expr.Env, args []value.Datum) (value.Datum, error) { return s.setConfig(args) },
	})
	c.add(&expr.Function{
		OID: 2026, Name: "pg_backend_pid", Volatility: expr.Stable, Returns: value.Int4,
		Call: func(*expr.Env, []value.Datum) (value.Datum, error) { return int64(s.opts.BackendPID), nil },
	})
	c.add(&expr.Function{
		OID: 810, Name: "pg_client_encoding", Strict: true, Volatility: expr.Stable, Returns: value.Name,
		Call: func(*expr.Env, []value.Datum) (value.Datum, error) { return s.clientEncoding(), nil },
	})
	c.add(&expr.Function{
		OID: 2943, Name: "txid_current", Strict: true, Volatility: expr.Stable, Returns: value.Int8,
		Call: func(*expr.Env, []value.Datum) (value.Datum, error) { return s.TransactionID(), nil },
	})
	c.add(&expr.Function{
		OID: 3348, Name: "txid_current_if_assigned", Strict: true, Volatility: expr.Stable, Returns: value.Int8,
		Call: func(*expr.Env, []value.Datum) (value.Datum, error) {
			if s.tx.id == 0 {
				return nil, nil
			}
			return s.tx.id, nil
		},
	})
	c.add(&expr.Function{
		OID: 1181, Name: "age", Args: []expr.Arg{{Type: value.XID}}, Strict: true, Volatility: expr.Stable, Returns: value.Int4,
		Call: func(_ *expr.Env, args []value.Datum) (value.Datum, error) { return s.ageOf(args[0].(int64)), nil },
	})
	c.addRelations()
	c.add(c.signal(2171, "pg_cancel_backend", value.Field{Name: "", Type: value.Int4}))
	c.add(c.signal(2096, "pg_terminate_backend", value.Field{Name: "pid", Type: value.Int4}, value.Field{Name: "timeout", Type: value.Int8}))
	return c
}

// signal returns a function that signals another session. Its optional timeout argument is ignored:
// the session ends soon, and the caller does not wait.
func (c *sessionSchema) signal(oid uint32, name string, args ...value.Field) *expr.Function {
	f := &expr.Function{OID: oid, Name: name, Strict: true, Volatility: expr.Volatile, Returns: value.Bool}
	for i, a := range args {
		f.Args = append(f.Args, expr.Arg{Name: a.Name, Type: a.Type, HasDefault: i > 0, Default: int64(0), DefaultSQL: "0"})
	}
	f.Call = func(env *expr.Env, vals []value.Datum) (value.Datum, error) {
		pid := vals[0].(int64)
		if c.s.opts.Signal != nil && pid > 0 {
			if found, err := c.s.opts.Signal(uint32(pid), len(args) > 1); found || err != nil {
				return found, err
			}
		}
		e := pgerror.Notice("PID %d is not a PostgreSQL server process", pid)
		e.Severity, e.Code = "WARNING", "01000"
		env.Notice(e)
		return false, nil
	}
	return f
}

func (c *sessionSchema) add(f *expr.Function) {
	f.Schema = catalogName
	c.functions[f.Name] = append(c.functions[f.Name], f)
}

func (s *Session) currentSetting(name string, missingOK bool) (value.Datum, error) {
	v, ok := s.shown(name)
	switch {
	case ok:
		return v, nil
	case missingOK:
		return nil, nil
	}
	return nil, settings.Unrecognised(name)
}

func (s *Session) setConfig(args []value.Datum) (value.Datum, error) {
	name, ok := args[0].(string)
	if !ok {
		return nil, pgerror.New(pgerror.NullNotAllowed, "SET requires parameter name")
	}
	local, _ := args[2].(bool)
	v, ok := args[1].(string)
	if !ok {
		if err := s.vars.Reset(name, local); err != nil {
			return nil, err
		}
	} else if err := s.vars.Set(name, v, local); err != nil {
		return nil, err
	}
	s.report()
	now, _ := s.shown(name)
	return now, nil
}

// clientEncoding returns PostgreSQL's name of the client encoding.
func (s *Session) clientEncoding() string {
	return charset.Name(int64(charset.Number(s.vars.Value("client_encoding"))))
}

// lastTransaction is the last transaction ID assigned in this process. The first IDs are reserved
// by PostgreSQL.
var lastTransaction atomic.Int64

const reservedTransactions = 2

// ageOf returns how many transactions began since the one with the ID xid. The first IDs are
// reserved for rows that are older than every transaction.
func (s *Session) ageOf(xid int64) int64 {
	if xid <= reservedTransactions {
		return math.MaxInt32
	}
	return int64(int32(uint32(s.TransactionID()) - uint32(xid)))
}

// TransactionID returns the ID of the transaction, which is unique within the process.
func (s *Session) TransactionID() int64 {
	if s.tx.id == 0 {
		s.tx.id = lastTransaction.Add(1) + reservedTransactions
	}
	return s.tx.id
}
