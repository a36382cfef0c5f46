// Package aggregate implements the aggregate functions: counts, sums, averages, deviations,
// extremes, and aggregation into arrays and texts.
//
// It defines their states. Each group has its own Aggregator, used by one goroutine. Aggregated
// values count against the memory of the statement. The JSON aggregates are in package document.
package aggregate
