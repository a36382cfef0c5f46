package parse

import (
	"errors"
	"sync"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/parse/libpgquery"
)

const (
	// maxWords limits the memory of a tree: about a kilobyte a word.
	maxWords = 500_000
	// maxDepth limits the stack of code that walks a tree.
	maxDepth = 2000
	// maxInstanceBytes is the maximum memory of a parser that is kept for reuse. Its memory never
	// shrinks, and creating a parser takes less time than parsing a text that needs this much.
	maxInstanceBytes = 8 << 20
)

// instance is a parser that all sessions share, since applications send few texts that are not
// cached, and each parser takes memory. Long texts have one of their own, so that no short one
// waits for them.
type instance struct {
	mu sync.Mutex
	p  *libpgquery.Parser // nil: not created yet, or the last one must not be reused
}

// parse parses a text that is not too heavy.
func (i *instance) parse(text string) (*pg.ParseResult, error) {
	packed, err := i.run(text)
	if err != nil {
		return nil, asSQL(err)
	}
	tree := &pg.ParseResult{}
	if err := proto.Unmarshal(packed, tree); err != nil {
		return nil, tooComplex()
	}
	return tree, nil
}

func (i *instance) run(text string) ([]byte, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.p == nil {
		i.p = libpgquery.NewParser()
	}
	packed, err := i.p.Parse(text)
	if errors.Is(err, libpgquery.ErrTrapped) || i.p.Bytes() > maxInstanceBytes {
		i.p = nil
	}
	return packed, err
}

func asSQL(err error) error {
	var rejected *libpgquery.Error
	if !errors.As(err, &rejected) {
		return tooComplex()
	}
	return &pgerror.Error{
		Code: rejected.Code, Message: rejected.Message, Detail: rejected.Detail, Hint: rejected.Hint, Position: rejected.Position,
	}
}

// tooHeavy reports whether a text exceeds the limits of the parser.
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
