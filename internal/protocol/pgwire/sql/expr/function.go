package expr

import (
	"iter"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// Volatility tells on what the result of a function depends.
type Volatility byte

// As in pg_proc.provolatile.
const (
	Immutable Volatility = 'i' // on its arguments
	Stable    Volatility = 's' // also on the transaction and the session
	Volatile  Volatility = 'v' // on anything, and it may change things
)

// Function is one function that statements can call, built in or of a schema. Exactly one of Call,
// Rows and Aggregate is set.
type Function struct {
	OID        uint32 // 0: it has none to be seen
	Schema     string
	Name       string
	Args       []Arg
	Variadic   bool // the last argument is an array of any number of them
	Strict     bool // NULL for any argument gives NULL, or no rows
	Volatility Volatility

	Returns *value.Type   // of the value, or of each row; a composite type when rows have several columns
	Columns []value.Field // of Rows that is no composite type: RETURNS TABLE (...)

	Call      func(env *Env, args []value.Datum) (value.Datum, error)
	Rows      func(env *Env, args []value.Datum) iter.Seq2[[]value.Datum, error]
	Aggregate func() Aggregator
	Comment   string // for people: \df+

	// Yields: when others of the name take a call too, they are meant if nothing else decides, or
	// if a parameter of a prepared statement has no type but that which the choice gives it.
	// Drivers send a number only where they are told that a number is wanted.
	Yields bool

	// Later, when set, is Call for a statement that shows its rows after the commit: only then it
	// is asked for the value. LaterRows is that of Rows, and may have Promises among the values of
	// its rows.
	Later     func(env *Env, args []value.Datum) (Promise, error)
	LaterRows func(env *Env, args []value.Datum) iter.Seq2[[]value.Datum, error]

	// Bind, when set, makes Call or Rows for a call whose arguments have these types; for functions
	// of polymorphic arguments.
	Bind func(args []*value.Type, returns *value.Type) (Bound, error)

	kind byte   // of a built-in one: f function, a aggregate, w window function
	set  bool   // of a built-in one: it returns a set
	impl string // of a built-in one: the name of its implementation

	spread BindFunc // of a built-in one: what takes VARIADIC array for arguments of any type; nil: nothing does
}

// Bound is a function made for the types of its arguments; one of its parts is set.
type Bound struct {
	Call      func(env *Env, args []value.Datum) (value.Datum, error)
	Rows      func(env *Env, args []value.Datum) iter.Seq2[[]value.Datum, error]
	Aggregate func() Aggregator
}

// IsSet reports whether the function returns rows.
func (f *Function) IsSet() bool { return f.Rows != nil || f.set }

// IsAggregate reports whether the function adds up rows.
func (f *Function) IsAggregate() bool { return f.Aggregate != nil || f.kind == 'a' }

// callable reports whether there is anything behind the name.
func (f *Function) callable() bool {
	return f.Call != nil || f.Rows != nil || f.Aggregate != nil || f.Bind != nil
}

// Arg is an argument of a function.
type Arg struct {
	Name       string // "" when it has none
	Type       *value.Type
	HasDefault bool
	Default    value.Datum
	DefaultSQL string // as \df shows it, say "NULL::hstore"
}

// Aggregator adds up the rows of one group.
type Aggregator interface {
	Add(env *Env, args []value.Datum) error
	Result(env *Env) (value.Datum, error)
}
