package vfs

import "bytes"

// pageBytes is the unit in which a disk keeps or loses unsynced bytes, see Mem.CrashClone.
const pageBytes = 4096

type page [pageBytes]byte

var zeroPage page

// content is the content of a file: pages, of which nil ones hold only zeros. Most of a log's last
// segment is zeros. The bytes of the last page after size are zeros.
type content struct {
	size  int
	pages []*page
}

// pagesOf returns the number of pages that hold size bytes.
func pagesOf(size int) int { return (size + pageBytes - 1) / pageBytes }

// page returns page i, also after the end.
func (c *content) page(i int) *page {
	if i < len(c.pages) && c.pages[i] != nil {
		return c.pages[i]
	}
	return &zeroPage
}

// readAt copies bytes from off into p, and returns their number.
func (c *content) readAt(p []byte, off int) int {
	if off >= c.size {
		return 0
	}
	p = p[:min(len(p), c.size-off)]
	for n := 0; n < len(p); {
		at := off + n
		n += copy(p[n:], c.page(at / pageBytes)[at%pageBytes:])
	}
	return len(p)
}

// memNode is a file: its content, and what of it was synced. Pages that both have are shared, and
// never written. Guarded by Mem.mu of the file system it lives in.
type memNode struct {
	data   content
	synced content // at the last sync
	from   int     // pages of data before it, and after to, are those of synced
	to     int
}

// changed records that the pages from to to of data may differ from what was synced.
func (n *memNode) changed(from, to int) {
	if n.from >= n.to {
		n.from, n.to = from, to
		return
	}
	n.from, n.to = min(n.from, from), max(n.to, to)
}

// own returns page i of data, which may be written.
func (n *memNode) own(i int) *page {
	p := n.data.pages[i]
	switch {
	case p == nil:
		p = new(page)
	case i < len(n.synced.pages) && p == n.synced.pages[i]:
		p = new(*p)
	}
	n.data.pages[i] = p
	return p
}

func (n *memNode) writeAt(p []byte, off int) {
	end := off + len(p)
	n.changed(min(off, n.data.size)/pageBytes, pagesOf(end))
	n.grow(end)
	for len(p) > 0 {
		i, at := off/pageBytes, off%pageBytes
		part := p[:min(len(p), pageBytes-at)]
		if n.data.pages[i] != nil || !bytes.Equal(part, zeroPage[:len(part)]) {
			copy(n.own(i)[at:], part)
		}
		p, off = p[len(part):], off+len(part)
	}
}

// grow makes the file at least size bytes long.
func (n *memNode) grow(size int) {
	n.data.size = max(n.data.size, size)
	n.data.pages = append(n.data.pages, make([]*page, max(pagesOf(size)-len(n.data.pages), 0))...)
}

func (n *memNode) truncate(size int) {
	n.changed(min(size, n.data.size)/pageBytes, pagesOf(size))
	if size >= n.data.size {
		n.grow(size)
		return
	}
	n.data.size, n.data.pages = size, n.data.pages[:pagesOf(size)]
	if rest := size % pageBytes; rest > 0 && n.data.pages[size/pageBytes] != nil {
		clear(n.own(size / pageBytes)[rest:])
	}
}

func (n *memNode) sync() {
	count := len(n.data.pages)
	kept := n.synced.pages[:min(len(n.synced.pages), count)]
	n.synced.size = n.data.size
	n.synced.pages = append(kept, make([]*page, count-len(kept))...)
	from, to := min(n.from, count), min(n.to, count)
	copy(n.synced.pages[from:to], n.data.pages[from:to])
	n.from, n.to = 0, 0
}
