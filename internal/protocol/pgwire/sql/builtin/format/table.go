package format

import "fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"

// Table returns the functions of this package.
func Table() expr.Table {
	to := expr.Table{}
	addNumberFormats(to)
	addTimeReaders(to)
	addTimeFormats(to)
	return to
}
