// Package hstore is PostgreSQL's hstore: a map from text to text or NULL, with its text form, its binary form and its operators.
package hstore

// Map is a value of hstore: its pairs in the order of PostgreSQL (shorter keys first, then by bytes), each key once. It is not changed
// after it was made. A nil Map is an empty one.
type Map []Pair

// Pair is one key and its value.
type Pair struct {
	Key   string
	Value string
	Null  bool // Value is NULL
}
