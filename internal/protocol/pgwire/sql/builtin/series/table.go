package series

import "fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"

// Table returns the functions of this package.
func Table() expr.Table {
	to := expr.Table{}
	addAllSeries(to)
	return to
}
