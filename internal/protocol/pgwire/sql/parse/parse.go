// Package parse turns SQL texts into trees with PostgreSQL's own parser.
package parse

import (
	"sync"

	pg "github.com/pganalyze/pg_query_go/v6"
	pgquery "github.com/wasilibs/go-pgquery"
)

// one lets a single goroutine into the parser: each instance of it takes some 15 MB, and a second to make.
var one sync.Mutex

// Parse parses a text of any number of statements. The tree is shared and must not be changed.
func Parse(text string) (*pg.ParseResult, error) {
	one.Lock()
	defer one.Unlock()
	return pgquery.Parse(text)
}
