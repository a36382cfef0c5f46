// Package parse turns SQL texts into trees with PostgreSQL's own parser. Trees are cached by text,
// because applications send few statements, again and again.
package parse

import (
	"errors"
	"runtime/debug"
	"sync"

	pg "github.com/pganalyze/pg_query_go/v6"
	pgquery "github.com/wasilibs/go-pgquery"
	"github.com/wasilibs/go-pgquery/parser"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

var (
	// one lets a single goroutine into the parser: each instance of it takes some 15 MB, and a
	// second to make.
	one     sync.Mutex
	warming sync.Once
	warmed  sync.Once
	kept    = newCache(maxKeptBytes)
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
	one.Lock()
	defer one.Unlock()
	warmed.Do(warm)
	tree, err := parseHeld(text)
	if err != nil {
		return nil, syntaxError(err)
	}
	kept.put(text, tree)
	return tree, nil
}

// Warm makes the parser in the background, so that the first statement need not wait for all of it.
func Warm() {
	warming.Do(func() {
		go func() {
			one.Lock()
			defer one.Unlock()
			warmed.Do(warm)
		}()
	})
}

// warm makes the parser and gives back the quarter of a gigabyte that compiling it took.
func warm() {
	_, _ = pgquery.Parse("SELECT 1")
	debug.FreeOSMemory()
}

func syntaxError(err error) error {
	var broken *parser.Error
	var told *pgerror.Error
	if errors.As(err, &told) {
		return told
	}
	if !errors.As(err, &broken) {
		return pgerror.New(pgerror.SyntaxError, "%s", err.Error())
	}
	e := pgerror.New(pgerror.SyntaxError, "%s", broken.Message)
	e.Position = broken.Cursorpos
	return e
}
