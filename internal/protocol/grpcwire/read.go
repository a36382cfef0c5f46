package grpcwire

import (
	"encoding/binary"
	"errors"
	"strings"

	"golang.org/x/net/http2"

	"fiveways.dev/fiveways/internal/protocol"
)

// readLoop reads until the connection is over.
func (c *conn) readLoop() {
	want := 0
	if len(c.in.Pending()) > 0 { // read before the session began
		want = c.round()
	}
	for !c.over {
		if c.draining.Load() && !c.drain() {
			return
		}
		c.awaitRoom()
		before := len(c.in.Pending())
		switch err := c.in.Fill(want); {
		case c.quit.Load():
			return
		case errors.Is(err, protocol.ErrKicked):
			continue
		case err != nil:
			return // the client has disconnected
		}
		c.srv.o.BytesIn.Add(uint64(len(c.in.Pending()) - before))
		want = c.round()
	}
}

// round handles the frames that were read, flushes the application, and writes the output. It
// returns how many bytes are needed next.
func (c *conn) round() (want int) {
	c.mu.Lock()
	c.out.gather()
	c.mu.Unlock()
	want = c.parse()
	if c.app != nil {
		c.app.Flush()
	}
	c.mu.Lock()
	c.noteRound()
	c.giveWindow()
	c.leaveRound()
	c.mu.Unlock()
	return want
}

// parse handles all complete frames. It returns how many bytes the incomplete frame at the end
// needs, as far as that is known.
func (c *conn) parse() (want int) {
	for !c.over {
		pending := c.in.Pending()
		if !c.prefaced {
			if !c.preface(pending) {
				return len(http2.ClientPreface)
			}
			continue
		}
		if len(pending) < frameHead {
			return frameHead
		}
		n := int(pending[0])<<16 | int(pending[1])<<8 | int(pending[2])
		f := frame{
			kind: http2.FrameType(pending[3]), flags: http2.Flags(pending[4]),
			call: binary.BigEndian.Uint32(pending[5:]) & (1<<31 - 1),
		}
		if n > maxFrame {
			c.refuse(connFault(http2.ErrCodeFrameSize, "a frame of %d bytes", n))
			return 0
		}
		if len(pending) < frameHead+n {
			return frameHead + n
		}
		f.payload = pending[frameHead : frameHead+n : frameHead+n]
		c.in.Consume(frameHead + n)
		c.frames++
		if err := c.frame(f); err != nil {
			c.refuse(err)
		}
	}
	return 0
}

// preface consumes the client's preface. It returns false if more bytes are needed or the
// connection is over. A client that sends something else does not speak HTTP/2 and would not
// understand an error.
func (c *conn) preface(pending []byte) bool {
	const preface = http2.ClientPreface
	if len(pending) < len(preface) {
		c.over = !strings.HasPrefix(preface, string(pending))
		return false
	}
	if string(pending[:len(preface)]) != preface {
		c.over = true
		return false
	}
	c.in.Consume(len(preface))
	c.prefaced = true
	c.welcome()
	return true
}

// frame handles one frame. The error is a *fault.
func (c *conn) frame(f frame) error {
	if !c.settled {
		if f.kind != http2.FrameSettings || f.flags.Has(http2.FlagSettingsAck) {
			return connFault(http2.ErrCodeProtocol, "the first frame is no settings")
		}
		c.settled = true
		c.greeted.Store(true)
		c.startKeepalive()
	}
	if c.headers.open() && (f.kind != http2.FrameContinuation || f.call != c.headers.call) {
		return connFault(http2.ErrCodeProtocol, "a frame between those of a header block")
	}
	switch f.kind {
	case http2.FrameData:
		return c.dataFrame(f)
	case http2.FrameHeaders:
		return c.headersFrame(f)
	case http2.FrameContinuation:
		return c.continuationFrame(f)
	case http2.FrameWindowUpdate:
		return c.windowFrame(f)
	case http2.FrameRSTStream:
		return c.resetFrame(f)
	}
	if !c.calm.Allow() {
		return connFault(http2.ErrCodeEnhanceYourCalm, "too many frames for nothing")
	}
	switch f.kind {
	case http2.FrameSettings:
		return c.settingsFrame(f)
	case http2.FramePing:
		return c.pingFrame(f)
	case http2.FramePriority:
		return priorityFrame(f)
	case http2.FrameGoAway:
		return goAwayFrame(f)
	case http2.FramePushPromise:
		return connFault(http2.ErrCodeProtocol, "a client pushes nothing")
	}
	return nil // frames of unknown types are ignored
}

// refuse answers a protocol error: it resets the call or ends the connection.
func (c *conn) refuse(err error) {
	var f *fault
	if !errors.As(err, &f) {
		f = &fault{code: http2.ErrCodeInternal, text: err.Error()}
	}
	if f.call != 0 && !c.resets.Allow() { // provoking a reset counts like sending one
		f = &fault{code: http2.ErrCodeEnhanceYourCalm, text: "too many resets: " + f.text}
	}
	if f.call == 0 {
		c.srv.quiet.Warn("grpc: closing a connection", "conn", c.id, "peer", c.nc.RemoteAddr(), "reason", f.Error())
		c.sayGoAway(f.code, f.text)
		c.over = true
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.calls[f.call]; call != nil {
		c.reset(call, f.code)
		return
	}
	c.out.end(appendReset(c.out.begin(), f.call, f.code))
}
