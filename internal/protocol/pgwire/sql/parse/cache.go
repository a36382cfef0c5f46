package parse

import (
	"container/list"
	"sync"

	pg "github.com/pganalyze/pg_query_go/v6"
)

const (
	// maxKeptBytes bounds the texts whose trees are kept; a tree takes some twenty times as much.
	maxKeptBytes = 1 << 20
	// maxKeptText is the longest text that is kept: longer ones are rarely sent twice.
	maxKeptText = 16 << 10
	// entryBytes is what an entry takes beside its text, as the bound counts it.
	entryBytes = 64
)

// cache keeps the trees of the texts that were used last.
type cache struct {
	mu    sync.Mutex
	limit int
	// Invariant: bytes is the sum of cost over order, which has the entry used last in front;
	// byText has the same entries.
	bytes  int
	order  *list.List
	byText map[string]*list.Element
}

type entry struct {
	text string
	tree *pg.ParseResult
}

func newCache(limit int) *cache {
	return &cache{limit: limit, order: list.New(), byText: map[string]*list.Element{}}
}

func cost(text string) int { return len(text) + entryBytes }

func (c *cache) get(text string) *pg.ParseResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byText[text]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry).tree
}

func (c *cache) put(text string, tree *pg.ParseResult) {
	if len(text) > maxKeptText {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byText[text] != nil {
		return
	}
	c.byText[text] = c.order.PushFront(&entry{text, tree})
	c.bytes += cost(text)
	for c.bytes > c.limit {
		last := c.order.Back()
		old := c.order.Remove(last).(*entry)
		delete(c.byText, old.text)
		c.bytes -= cost(old.text)
	}
}
