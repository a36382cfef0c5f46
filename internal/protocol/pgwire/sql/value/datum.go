// Package value implements the SQL types and their values: text format, binary format, comparison
// and casts, as in PostgreSQL 15.
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
//	date, time                    Date, Time
//	timestamp, timestamptz        Timestamp, TimestampTZ
//	interval                      Interval
//	hstore                        hstore.Map
//	arrays                        *Array
//	records and composites        Record
type Datum any

// Date is the number of days since 2000-01-01. The ends of the range are -infinity and infinity.
type Date int32

// Time is the number of microseconds since midnight.
type Time int64

// Timestamp is the number of microseconds since 2000-01-01 00:00 in an unspecified zone. The ends
// of the range are -infinity and infinity.
type Timestamp int64

// TimestampTZ is the number of microseconds since 2000-01-01 00:00 UTC. The ends of the range are
// -infinity and infinity.
type TimestampTZ int64

// Interval is a span of time. Its three parts are independent, as in PostgreSQL.
type Interval struct {
	Months, Days int32
	Micros       int64
}

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
