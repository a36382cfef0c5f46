package aggregate

import "fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"

// Table returns the functions of this package.
func Table() expr.Table {
	to := expr.Table{}
	addAggregates(to)
	return to
}
