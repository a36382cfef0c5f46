// Package parse parses SQL texts into trees with PostgreSQL's own parser. Trees are cached by text,
// because applications send few different statements repeatedly.
package parse

import pg "github.com/pganalyze/pg_query_go/v6"

var (
	shared instance
	kept   = newCache(maxKeptBytes)
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
	tree, err := shared.parse(text)
	if err != nil {
		return nil, err
	}
	kept.put(text, tree)
	return tree, nil
}
