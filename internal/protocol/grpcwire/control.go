package grpcwire

import (
	"encoding/binary"
	"time"

	"golang.org/x/net/http2"
)

// hello sends the settings and the window update that open every connection.
func (c *conn) hello() {
	o := &c.srv.o
	var settings []byte
	for _, s := range []http2.Setting{
		{ID: http2.SettingMaxConcurrentStreams, Val: o.MaxStreams},
		{ID: http2.SettingInitialWindowSize, Val: o.StreamWindow},
		{ID: http2.SettingMaxHeaderListSize, Val: o.MaxHeaderBytes},
	} {
		settings = binary.BigEndian.AppendUint16(settings, uint16(s.ID))
		settings = binary.BigEndian.AppendUint32(settings, s.Val)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b := appendFrame(c.out.begin(), http2.FrameSettings, 0, 0, settings...)
	if o.ConnWindow > firstWindow {
		b = appendWindow(b, 0, o.ConnWindow-firstWindow)
	}
	c.out.end(b)
}

// settingsFrame handles the client's settings.
func (c *conn) settingsFrame(f frame) error {
	const size = 6
	ack := f.flags.Has(http2.FlagSettingsAck)
	switch {
	case f.call != 0:
		return connFault(http2.ErrCodeProtocol, "settings of a stream")
	case len(f.payload)%size != 0 || ack && len(f.payload) > 0:
		return connFault(http2.ErrCodeFrameSize, "settings of %d bytes", len(f.payload))
	case ack:
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.send.first
	for p := f.payload; len(p) > 0; p = p[size:] {
		s := http2.Setting{ID: http2.SettingID(binary.BigEndian.Uint16(p)), Val: binary.BigEndian.Uint32(p[2:])}
		if err := c.setting(s); err != nil {
			return err
		}
	}
	if err := c.widenAll(c.send.first - first); err != nil {
		return err
	}
	c.out.end(appendFrame(c.out.begin(), http2.FrameSettings, http2.FlagSettingsAck, 0))
	c.pump()
	return nil
}

// setting applies one setting. The caller holds mu.
func (c *conn) setting(s http2.Setting) error {
	switch s.ID {
	case http2.SettingHeaderTableSize:
		c.enc.tableSize(s.Val)
	case http2.SettingEnablePush:
		if s.Val > 1 {
			return connFault(http2.ErrCodeProtocol, "ENABLE_PUSH is %d", s.Val)
		}
	case http2.SettingInitialWindowSize:
		if s.Val > mostWindow {
			return connFault(http2.ErrCodeFlowControl, "INITIAL_WINDOW_SIZE is %d", s.Val)
		}
		c.send.first = int64(s.Val)
	case http2.SettingMaxFrameSize:
		const most = 1<<24 - 1
		if s.Val < maxFrame || s.Val > most {
			return connFault(http2.ErrCodeProtocol, "MAX_FRAME_SIZE is %d", s.Val)
		}
		c.send.frame = int(min(s.Val, mostFrame))
	case http2.SettingMaxHeaderListSize:
		c.send.headers = uint64(s.Val)
	}
	return nil
}

// widenAll changes the send windows of all open calls. It is called once per frame, since a setting
// may appear thousands of times in it. The caller holds mu.
func (c *conn) widenAll(delta int64) error {
	if delta == 0 {
		return nil
	}
	for _, call := range c.calls {
		if !c.widen(call, delta) {
			return connFault(http2.ErrCodeFlowControl, "INITIAL_WINDOW_SIZE makes a window too large")
		}
	}
	return nil
}

// windowFrame handles a window update, which widens a send window.
func (c *conn) windowFrame(f frame) error {
	if len(f.payload) != 4 {
		return connFault(http2.ErrCodeFrameSize, "a window update of %d bytes", len(f.payload))
	}
	n := int64(binary.BigEndian.Uint32(f.payload) & (1<<31 - 1))
	if f.call > c.lastID {
		return connFault(http2.ErrCodeProtocol, "a window update of no open stream")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch call := c.calls[f.call]; {
	case n == 0:
		return &fault{f.call, http2.ErrCodeProtocol, "a window update of 0"}
	case f.call == 0:
		if c.send.window += n; c.send.window > mostWindow {
			return connFault(http2.ErrCodeFlowControl, "the connection's window is too large")
		}
	case call == nil:
		return c.lateFrame()
	case !c.widen(call, n):
		return callFault(f.call, http2.ErrCodeFlowControl, "the stream's window is too large")
	}
	c.pump()
	return nil
}

// resetFrame ends a call that the client has reset.
func (c *conn) resetFrame(f frame) error {
	switch {
	case len(f.payload) != 4:
		return connFault(http2.ErrCodeFrameSize, "a reset of %d bytes", len(f.payload))
	case f.call == 0 || f.call > c.lastID:
		return connFault(http2.ErrCodeProtocol, "a reset of no open stream")
	case !c.resets.Allow():
		return connFault(http2.ErrCodeEnhanceYourCalm, "too many resets")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.calls[f.call]; call != nil {
		call.in.closed, call.clientDone = true, true
		c.remove(call)
	} else {
		c.closed.giveUp(f.call)
	}
	return nil
}

func priorityFrame(f frame) error {
	const size = 5
	switch {
	case f.call == 0:
		return connFault(http2.ErrCodeProtocol, "priority of no stream")
	case len(f.payload) != size:
		return callFault(f.call, http2.ErrCodeFrameSize, "priority of a wrong size")
	}
	return nil
}

// goAwayFrame checks a GOAWAY frame. Nothing follows from it: the client itself closes the
// connection.
func goAwayFrame(f frame) error {
	const least = 8
	switch {
	case f.call != 0:
		return connFault(http2.ErrCodeProtocol, "a farewell of a stream")
	case len(f.payload) < least:
		return connFault(http2.ErrCodeFrameSize, "a farewell of %d bytes", len(f.payload))
	}
	return nil
}

// pingPolicy tracks how often the client pings.
type pingPolicy struct {
	last    time.Time
	strikes int
}

// mostSent is how many pings a client may have outstanding for frames that it has received.
const mostSent = 1000

// noteSent counts a data or header frame. Some clients send a ping whenever data comes, to measure
// the connection. The caller holds mu.
func (c *conn) noteSent() {
	c.out.answers = true
	c.sent = min(c.sent+1, mostSent)
	c.sentAll++
}

// quietPing is the least interval between pings of a client that has no open calls and no
// permission to ping without them.
const quietPing = 2 * time.Hour

// pingFrame answers a ping. The connection of a client that pings too often is ended by the rules
// of grpc-go, which clients know.
func (c *conn) pingFrame(f frame) error {
	const size = 8
	switch {
	case f.call != 0:
		return connFault(http2.ErrCodeProtocol, "a ping of a stream")
	case len(f.payload) != size:
		return connFault(http2.ErrCodeFrameSize, "a ping of %d bytes", len(f.payload))
	case f.flags.Has(http2.FlagPingAck):
		if string(f.payload) == string(drainPing[:]) {
			c.drainAnswered()
		}
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ack(f.payload)
	p, now, least := &c.pings, time.Now(), c.srv.o.MinPing
	if len(c.calls) == 0 && !c.srv.o.PingsWithoutStreams {
		least = quietPing
	}
	switch {
	case c.sent > 0:
		c.sent, p.strikes = c.sent-1, 0
	case p.last.Add(least).After(now):
		p.strikes++
	}
	p.last = now
	if p.strikes > maxPingStrikes {
		return connFault(http2.ErrCodeEnhanceYourCalm, "too_many_pings")
	}
	return nil
}
