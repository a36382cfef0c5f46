package grpcwire

import (
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	hpackTable   = 4096 // size of the table that the client may use
	mostRequests = 64   // header blocks whose decoded requests are cached
)

// headerReader assembles and decodes header blocks.
type headerReader struct {
	limit uint32
	dec   *hpack.Decoder

	// The incomplete block; call is 0 if there is none.
	call  uint32
	flags http2.Flags
	block []byte
	held  int64 // counted bytes of block

	// known caches the requests of blocks that consist only of references to the HPACK tables, one
	// byte per field. Invariant: the client's dynamic table has not changed since the first of them
	// was decoded.
	known map[string]*request
}

func (h *headerReader) init(limit uint32) {
	h.limit = limit
	h.dec = hpack.NewDecoder(hpackTable, nil)
	h.dec.SetMaxStringLength(int(limit))
	h.known = map[string]*request{}
}

func (h *headerReader) open() bool { return h.call != 0 }

// decode decodes a whole header block into a request. An error ends the connection: the state of
// the compression table is unknown after it.
func (h *headerReader) decode(block []byte, methods map[string]*method) (*request, error) {
	if r := h.known[string(block)]; r != nil {
		return r, nil
	}
	b := requestBuilder{limit: h.limit}
	h.dec.SetEmitFunc(b.field)
	if _, err := h.dec.Write(block); err != nil {
		return nil, connFault(http2.ErrCodeCompression, "%v", err)
	}
	if err := h.dec.Close(); err != nil {
		return nil, connFault(http2.ErrCodeCompression, "%v", err)
	}
	r := b.request(methods)
	if !pointsOnly(block) || len(h.known) >= mostRequests {
		clear(h.known)
	}
	if pointsOnly(block) {
		h.known[string(block)] = r
	}
	return r, nil
}

// pointsOnly reports whether a block consists only of one-byte references to the HPACK tables,
// which do not change the tables.
func pointsOnly(block []byte) bool {
	for _, x := range block {
		if x < 0x80 || x == 0xff {
			return false
		}
	}
	return true
}

// headersFrame handles a frame that begins a header block.
func (c *conn) headersFrame(f frame) error {
	const priorityFields = 5
	if f.call == 0 {
		return connFault(http2.ErrCodeProtocol, "headers of no stream")
	}
	block, err := unpad(f)
	if err != nil {
		return err
	}
	if f.flags.Has(http2.FlagHeadersPriority) {
		if len(block) < priorityFields {
			return connFault(http2.ErrCodeFrameSize, "headers too short for their priority")
		}
		block = block[priorityFields:]
	}
	if f.flags.Has(http2.FlagHeadersEndHeaders) {
		return c.headerBlock(f.call, f.flags, block)
	}
	h := &c.headers
	h.call, h.flags, h.block = f.call, f.flags, append(h.block[:0], block...)
	return c.holdBlock()
}

// holdBlock counts the bytes of the incomplete header block. If they exceed the limit, the
// connection ends: without the block the client's table would be unknown.
func (c *conn) holdBlock() error {
	h := &c.headers
	n := weighty(len(h.block))
	if more := n - h.held; more > 0 && !c.hold(more) || more < 0 {
		if more > 0 {
			return connFault(http2.ErrCodeEnhanceYourCalm, "the server holds too many bytes of requests")
		}
		c.letGo(-more)
	}
	h.held = n
	return nil
}

// continuationFrame handles a frame that continues a header block.
func (c *conn) continuationFrame(f frame) error {
	h := &c.headers
	if !h.open() {
		return connFault(http2.ErrCodeProtocol, "a continuation of nothing")
	}
	if h.block = append(h.block, f.payload...); len(h.block) > int(h.limit) || !c.calm.Allow() {
		return connFault(http2.ErrCodeEnhanceYourCalm, "headers without end")
	}
	if !f.flags.Has(http2.FlagContinuationEndHeaders) {
		return c.holdBlock()
	}
	call, block := h.call, h.block
	h.call, h.block = 0, nil
	c.letGo(h.held)
	h.held = 0
	return c.headerBlock(call, h.flags, block)
}

// headerBlock handles a complete block: a new call, or trailers, which only mark the end of the
// client's data.
func (c *conn) headerBlock(id uint32, flags http2.Flags, block []byte) error {
	req, err := c.headers.decode(block, c.srv.methods)
	if err != nil {
		return err
	}
	last := flags.Has(http2.FlagHeadersEndStream)
	if id > c.lastID {
		if id%2 == 0 {
			return connFault(http2.ErrCodeProtocol, "received an illegal stream id: %d", id)
		}
		return c.open(id, req, last)
	}
	c.mu.Lock()
	call := c.calls[id]
	clientDone := call != nil && call.clientDone
	c.mu.Unlock()
	switch {
	case call == nil:
		return c.lateHeaders(id, last)
	case clientDone:
		return callFault(id, http2.ErrCodeStreamClosed, "headers after the end")
	case !last:
		return callFault(id, http2.ErrCodeProtocol, "trailers without the end")
	}
	c.take(call, nil, true)
	return nil
}

// open opens a call.
func (c *conn) open(id uint32, req *request, last bool) error {
	call := &Call{c: c, id: id, req: req, clientDone: last}
	if req.timeout >= 0 {
		call.deadline = time.Now().Add(req.timeout)
	}
	held := req.reset == 0 && c.holdFor(call, weighty(int(req.size)))
	if held && id > 2*strangerCalls {
		c.meet(call)
	}
	c.mu.Lock()
	c.lastID = id
	if taken, err := c.mayOpen(req, held); !taken {
		c.closed.add(id, !last)
		if held {
			c.letGo(weighty(int(req.size)))
		}
		c.mu.Unlock()
		if err != nil {
			return callFault(id, err.code, err.text)
		}
		return nil
	}
	call.window = c.send.first
	c.calls[id] = call
	if !last {
		c.watchStalls()
	}
	refusal := req.refusal
	if refusal == nil && req.timeout == 0 {
		refusal = expired
	}
	if refusal != nil {
		c.turnAway(call, refusal)
	}
	c.mu.Unlock()
	if refusal == nil {
		c.start(call, last)
	}
	return nil
}

// mayOpen reports whether a call is accepted. held reports whether its headers are counted. A call
// that is refused without an error is dropped: the client was told that it would be. The caller
// holds mu.
func (c *conn) mayOpen(req *request, held bool) (taken bool, err *fault) {
	most := c.srv.o.MaxStreams
	if !c.known.Load() {
		most = min(most, strangerCalls)
	}
	switch {
	case req.reset != 0:
		return false, &fault{code: req.reset, text: "malformed headers"}
	case c.goaway == goawayFinal:
		return false, nil
	case !held, uint32(max(len(c.calls), c.busy)) >= most, c.send.queued > mostQueued:
		return false, &fault{code: http2.ErrCodeRefusedStream, text: "too many calls"}
	}
	return true, nil
}
