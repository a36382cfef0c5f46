// Package document implements the functions of hstore and of JSON: access, changes, construction,
// and their set-returning functions and aggregates.
//
// It defines the conversion of SQL values to JSON. Values have the representation of package value:
// an hstore is sorted by key, JSON is text.
package document
