// Package value implements the types of SQL and their values: text form, binary form, comparison
// and casts, as in PostgreSQL 15.
package value

import "fiveways.dev/fiveways/internal/core/hstore"

// Datum is one value; nil is NULL. The Go type follows from the SQL type:
//
//	boolean                       bool
//	smallint, integer, bigint     int64 (the range is that of the SQL type)
//	oid, regclass, regtype, ...   int64
//	real, double precision        float64
//	numeric                       Numeric
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

// Date is days since 2000-01-01; the ends of its range are -infinity and infinity.
type Date int32

// Time is microseconds since midnight.
type Time int64

// Timestamp is microseconds since 2000-01-01 00:00 of an unnamed zone; the ends of its range are
// -infinity and infinity.
type Timestamp int64

// TimestampTZ is microseconds since 2000-01-01 00:00 UTC; the ends of its range are -infinity and
// infinity.
type TimestampTZ int64

// Interval is a span of time; its three parts are kept apart as in PostgreSQL.
type Interval struct {
	Months, Days int32
	Micros       int64
}

// Array has its elements in row-major order. No dimensions: it is empty.
type Array struct {
	Elem  *Type
	Dims  []Dim
	Elems []Datum
}

// Dim is one dimension of an array.
type Dim struct{ Len, Lower int32 }

// Record is the fields of a row; their names and types stand in its Type's Fields.
type Record []Datum

var _ Datum = hstore.Map{}
