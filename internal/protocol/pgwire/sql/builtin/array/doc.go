// Package array implements the array functions: dimensions, slices, search, changes, unnest, and
// conversion from and to text.
//
// It has no state. Arguments are never changed. A result is a new array that may share elements,
// which are immutable.
package array
