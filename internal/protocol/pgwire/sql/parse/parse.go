// Package parse parses SQL texts into trees with PostgreSQL's own parser. Trees are cached by text,
// because applications send few different statements repeatedly.
package parse

import pg "github.com/pganalyze/pg_query_go/v6"

// maxQuickText is the maximum length of a text that the parser for short texts parses, within a
// few milliseconds. A text of a hundred megabytes takes seconds.
const maxQuickText = 4 << 10

var (
	quick, slow instance
	kept        = newCache(maxKeptBytes)
)

// Parse parses a text of any number of statements. The tree is shared and must not be changed.
// Errors are *pgerror.Error.
func Parse(text string) (*pg.ParseResult, error) {
	if tree := kept.get(text); tree != nil {
		return tree, nil
	}
	if tooHeavy(text) {
		return nil, tooComplex()
	}
	by := &quick
	if len(text) > maxQuickText {
		by = &slow
	}
	tree, err := by.parse(text)
	if err != nil {
		return nil, err
	}
	kept.put(text, tree)
	return tree, nil
}
