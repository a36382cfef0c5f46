// Package value implements the SQL types and their values: text format, binary format, comparison
// and casts, as in PostgreSQL 15. What is particular to decimals, and to dates and times, is in
// packages numeric and temporal.
package value

import "fiveways.dev/fiveways/internal/core/hstore"

// Datum is one value; nil is NULL. The Go type follows from the SQL type:
//
//	boolean                       bool
//	smallint, integer, bigint     int64 (the range is that of the SQL type)
//	oid, regclass, regtype, ...   int64
//	real, double precision        float64
//	numeric                       numeric.Number
//	text, varchar, char, name, "char", unknown, json, jsonb, xml, uuid, void,
//	enumerations                  string
//	bytea                         []byte
//	date, time                    temporal.Date, temporal.Time
//	timestamp, timestamptz        temporal.Timestamp, temporal.TimestampTZ
//	interval                      temporal.Interval
//	hstore                        hstore.Map
//	arrays                        *Array
//	records and composites        Record
type Datum any

// Array holds its elements in row-major order. An array without dimensions is empty.
type Array struct {
	Elem  *Type
	Dims  []Dim
	Elems []Datum
}

// Dim is one dimension of an array.
type Dim struct{ Len, Lower int32 }

// Record holds the fields of a row. Their names and types are in the Fields of its Type.
type Record []Datum

var _ Datum = hstore.Map{}
