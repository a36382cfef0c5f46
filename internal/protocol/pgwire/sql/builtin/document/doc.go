// Package document has the functions of hstore and of JSON: access, changes, construction, and
// their set-returning functions and aggregates.
//
// It owns the conversion of SQL values to JSON. Both kinds of values are in package value's form:
// an hstore is sorted by its keys, JSON is text.
package document
