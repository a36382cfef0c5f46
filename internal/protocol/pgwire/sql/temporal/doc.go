// Package temporal implements PostgreSQL's dates, times, timestamps and intervals: their texts in
// every DateStyle and IntervalStyle, their ranges, and the arithmetic of the calendar.
//
// The parsers follow PostgreSQL's DecodeDateTime and DecodeInterval with their odd rules, and the
// errors have PostgreSQL's SQLSTATEs and texts. The functions of SQL (extract, age, date_trunc …)
// are in builtin/datetime, which calculates with these types.
//
// Invariant: a value is a number or three, counted from 2000-01-01. The ends of a range are the
// infinities, which calculations keep.
package temporal
