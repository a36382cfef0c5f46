package expr

import (
	"iter"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Volatility describes what the result of a function depends on.
type Volatility byte

// As in pg_proc.provolatile.
const (
	Immutable Volatility = 'i' // on its arguments
	Stable    Volatility = 's' // also on the transaction and the session
	Volatile  Volatility = 'v' // on anything, and it may have side effects
)

// Function is a function that statements can call, built-in or from a schema. Exactly one of Call,
// Rows and Aggregate is set.
type Function struct {
	OID        uint32 // 0: no visible OID
	Schema     string
	Name       string
	Args       []Arg
	Variadic   bool // the last argument is an array that collects any number of arguments
	Strict     bool // returns NULL, or no rows, if any argument is NULL
	Volatility Volatility

	Returns *value.Type   // the type of the value or of each row; a composite type if rows have several columns
	Columns []value.Field // for Rows without a composite type: RETURNS TABLE (...)

	Call      func(env *Env, args []value.Datum) (value.Datum, error)
	Rows      func(env *Env, args []value.Datum) iter.Seq2[[]value.Datum, error]
	Aggregate func() Aggregator
	Comment   string // shown by \df+

	// Yields gives other overloads precedence if nothing else decides between them, or if the only
	// typing of a parameter of a prepared statement would come from the choice. It exists because
	// drivers send a number only if the server declares the parameter as a number.
	Yields bool

	// Later, if set, replaces Call in a statement that sends its rows after the commit; the value
	// is computed only then. LaterRows does the same for Rows; its rows may contain Promises.
	Later     func(env *Env, args []value.Datum) (Promise, error)
	LaterRows func(env *Env, args []value.Datum) iter.Seq2[[]value.Datum, error]

	// Bind, if set, returns Call or Rows for a call with these argument types. It is used for
	// functions with polymorphic arguments.
	Bind func(args []*value.Type, returns *value.Type) (Bound, error)

	kind byte   // of a built-in function: f function, a aggregate, w window function
	set  bool   // of a built-in function: it returns a set
	impl string // of a built-in function: the name of its implementation

	spread BindFunc // of a built-in function: the implementation for a VARIADIC array passed as "any" arguments; nil: none
}

// Bound is a function specialized to its argument types; one of its fields is set.
type Bound struct {
	Call      func(env *Env, args []value.Datum) (value.Datum, error)
	Rows      func(env *Env, args []value.Datum) iter.Seq2[[]value.Datum, error]
	Aggregate func() Aggregator
}

// IsSet reports whether the function returns rows.
func (f *Function) IsSet() bool { return f.Rows != nil || f.set }

// IsAggregate reports whether the function is an aggregate.
func (f *Function) IsAggregate() bool { return f.Aggregate != nil || f.kind == 'a' }

// callable reports whether the function is implemented.
func (f *Function) callable() bool {
	return f.Call != nil || f.Rows != nil || f.Aggregate != nil || f.Bind != nil
}

// Arg is an argument of a function.
type Arg struct {
	Name       string // "" if unnamed
	Type       *value.Type
	HasDefault bool
	Default    value.Datum
	DefaultSQL string // as shown by \df, for example "NULL::hstore"
}

// Aggregator accumulates the rows of one group.
type Aggregator interface {
	Add(env *Env, args []value.Datum) error
	Result(env *Env) (value.Datum, error)
}
