// Package series has generate_series for integers, numerics and timestamps.
//
// It owns no state. Rows are generated on demand, so a series may be larger than memory.
package series
