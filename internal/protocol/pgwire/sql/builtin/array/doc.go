// Package array has the array functions: dimensions, slices, search, changes, unnest, and
// conversion from and to text.
//
// It owns no state. An argument is never changed; the result is a new array, or shares elements,
// which are immutable.
package array
