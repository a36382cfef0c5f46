// Package series implements generate_series for integers, numerics and timestamps.
//
// It has no state. Rows are generated on demand, so a series may be larger than memory.
package series
