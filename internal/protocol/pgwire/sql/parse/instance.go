package parse

import (
	"container/list"
	_ "unsafe" // for go:linkname

	pg "github.com/pganalyze/pg_query_go/v6"
	pgquery "github.com/wasilibs/go-pgquery"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

const (
	// maxWords bounds what a tree takes in memory: some kilobyte for each word.
	maxWords = 500_000
	// maxDepth keeps the parser from the end of its stack, which it passes at some 3,000 levels.
	maxDepth = 2000
	// maxInstanceText is the longest text after which an instance of the parser is kept: its memory
	// never shrinks.
	maxInstanceText = 4 << 20
)

// instances holds the one instance of the parser while it is not in use. The library puts one back
// even when it has trapped in the middle of something; used again it gives wrong answers or hangs,
// and the library has no way to throw it away.
//
//go:linkname instances github.com/wasilibs/go-pgquery/parser.abiPool
var instances *list.List

// parseHeld parses with the lock held.
func parseHeld(text string) (tree *pg.ParseResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			tree, err = nil, tooComplex()
			discard()
		} else if len(text) > maxInstanceText {
			discard()
		}
	}()
	return pgquery.Parse(text)
}

// discard throws the instance away; the next text makes another.
func discard() {
	instances.Init()
	warm()
}

// tooHeavy reports whether a text is more than the parser can bear.
func tooHeavy(text string) bool {
	if len(text) <= maxDepth {
		return false
	}
	w := weigh(text)
	return w.words > maxWords || w.depth > maxDepth
}

func tooComplex() error {
	return pgerror.New("54001", "stack depth limit exceeded").WithHint("The statement nests too deeply or has too many words.")
}
