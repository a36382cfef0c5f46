package expr

import (
	"iter"

	"fiveways/internal/protocol/pgwire/sql/value"
)

// Volatility tells on what the result of a function depends.
type Volatility byte

// As in pg_proc.provolatile.
const (
	Immutable Volatility = 'i' // on its arguments
	Stable    Volatility = 's' // also on the transaction and the session
	Volatile  Volatility = 'v' // on anything, and it may change things
)

// Function is one function that statements can call, built in or of a schema. Exactly one of Call, Rows and Aggregate is set.
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
