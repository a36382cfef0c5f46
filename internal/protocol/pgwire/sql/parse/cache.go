package parse

import (
	"container/list"
	"sync"

	pg "github.com/pganalyze/pg_query_go/v6"
)

const (
	// maxKeptBytes limits the size of the texts whose trees are cached. A tree takes about twenty
	// times as much memory.
	maxKeptBytes = 1 << 20
	// maxKeptText is the maximum length of a cached text. Longer ones are rarely sent twice.
	maxKeptText = 16 << 10
	// entryBytes is the overhead of an entry, as counted against the limit.
	entryBytes = 64
)

// cache is an LRU cache of trees by text.
type cache struct {
	mu    sync.Mutex
	limit int
	// Invariant: bytes is the sum of cost over order. The front of order is the most recently used
	// entry. byText has the same entries.
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
