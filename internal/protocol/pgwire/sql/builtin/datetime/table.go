package datetime

import "fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"

// Table returns the functions of this package.
func Table() expr.Table {
	to := expr.Table{}
	addExtracts(to)
	addIntervalFunctions(to)
	addTimeOperations(to)
	addTruncations(to)
	addZones(to)
	return to
}
