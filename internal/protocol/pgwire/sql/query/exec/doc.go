// Package exec has the steps that rows pass through while a query runs: calls in FROM, joins,
// set-returning functions, grouping, window functions, DISTINCT, sorting and LIMIT.
//
// The steps take compiled expressions, which read the current row in env.Rows[0], and fill in slots
// of that row. Names, parse trees, relations and subqueries belong to package query, which plans
// the steps.
//
// Invariant: what is planned holds no state of a run. The state of a run is in values of their own,
// which count the memory that they keep.
package exec
