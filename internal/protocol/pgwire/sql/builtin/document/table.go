package document

import "fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"

// Table returns the functions of this package.
func Table() expr.Table {
	to := expr.Table{}
	addHstores(to)
	addDocuments(to)
	addJSONB(to)
	addRecords(to)
	return to
}
