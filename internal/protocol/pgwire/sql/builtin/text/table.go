package text

import "fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"

// Table returns the functions of this package.
func Table() expr.Table {
	to := expr.Table{}
	addBytesFunctions(to)
	addEncodings(to)
	addLikes(to)
	addQuotes(to)
	addRegexps(to)
	addTexts(to)
	return to
}
