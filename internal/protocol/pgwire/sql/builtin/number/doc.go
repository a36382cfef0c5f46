// Package number implements SQL arithmetic: integers, floats and numerics, their operators and
// mathematical functions.
//
// It has no state; the values are those of package value. As in PostgreSQL, a result out of range
// is an error and never wraps around.
package number
