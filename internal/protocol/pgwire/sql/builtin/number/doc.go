// Package number has the arithmetic of SQL: integers, floats and numerics, their operators and
// mathematical functions.
//
// It owns no state; the values are those of package value. A result out of range is an error, as in
// PostgreSQL, never wrapped around.
package number
