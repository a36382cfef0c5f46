package amqp

import (
	"fmt"
	"net"
	"time"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

const (
	channel       = 1 // every connection uses one channel
	maxFrameBytes = 128 << 10
	dialTimeout   = 10 * time.Second
	closeTimeout  = 2 * time.Second
)

// conn is a client connection with one open channel. One goroutine reads and one writes.
type conn struct {
	net.Conn
	buf      []byte // frames are parsed from buf[at:end]
	at, end  int
	frameMax uint32
}

// CloseError is the broker's reason for closing the connection or the channel.
type CloseError struct {
	Code uint16
	Text string
}

func (e *CloseError) Error() string {
	return fmt.Sprintf("amqp bench: broker closed: %d %s", e.Code, e.Text)
}

func dial(t target) (*conn, error) {
	n, err := net.DialTimeout("tcp", t.addr, dialTimeout)
	if err != nil {
		return nil, fmt.Errorf("amqp bench: %w", err)
	}
	c := &conn{Conn: n, buf: make([]byte, 2*maxFrameBytes), frameMax: maxFrameBytes}
	if err := c.open(t); err != nil {
		n.Close()
		return nil, err
	}
	return c, nil
}

// open logs in and opens the channel.
func (c *conn) open(t target) error {
	if err := c.SetDeadline(time.Now().Add(dialTimeout)); err != nil {
		return fmt.Errorf("amqp bench: %w", err)
	}
	if _, err := c.Write([]byte(amqpwire.ProtocolHeader)); err != nil {
		return fmt.Errorf("amqp bench: %w", err)
	}
	if _, err := c.await(amqpwire.IDConnectionStart); err != nil {
		return err
	}
	m, err := c.call(0, &amqpwire.ConnectionStartOk{
		ClientProperties: message.Table{
			{Name: "product", Value: "fiveways bench"},
			{Name: "capabilities", Value: message.Table{
				{Name: "publisher_confirms", Value: true},
				{Name: "basic.nack", Value: true},
				{Name: "authentication_failure_close", Value: true},
			}},
		},
		Mechanism: "PLAIN", Response: []byte("\x00" + t.user + "\x00" + t.password), Locale: "en_US",
	}, amqpwire.IDConnectionTune)
	if err != nil {
		return err
	}
	tune := m.(*amqpwire.ConnectionTune)
	if tune.FrameMax != 0 {
		c.frameMax = min(c.frameMax, tune.FrameMax)
	}
	// No heartbeats: the traffic shows that the peer is alive.
	if err := c.send(0, &amqpwire.ConnectionTuneOk{ChannelMax: tune.ChannelMax, FrameMax: c.frameMax}); err != nil {
		return err
	}
	if _, err := c.call(0, &amqpwire.ConnectionOpen{VirtualHost: t.vhost}, amqpwire.IDConnectionOpenOk); err != nil {
		return err
	}
	if _, err := c.call(channel, &amqpwire.ChannelOpen{}, amqpwire.IDChannelOpenOk); err != nil {
		return err
	}
	return c.SetDeadline(time.Time{})
}

func (c *conn) send(ch uint16, m amqpwire.Method) error {
	if _, err := c.Write(amqpwire.AppendMethodFrame(nil, ch, m)); err != nil {
		return fmt.Errorf("amqp bench: %v: %w", m.ID(), err)
	}
	return nil
}

// call sends m and waits for the answer with the id want.
func (c *conn) call(ch uint16, m amqpwire.Method, want amqpwire.MethodID) (amqpwire.Method, error) {
	if err := c.send(ch, m); err != nil {
		return nil, err
	}
	return c.await(want)
}

func (c *conn) await(want amqpwire.MethodID) (amqpwire.Method, error) {
	for {
		f, ok, err := c.frame()
		if err == nil && !ok {
			err = c.fill()
		}
		if err != nil {
			return nil, err
		}
		if !ok || f.Type != amqpwire.FrameMethod {
			continue
		}
		m, err := amqpwire.DecodeMethod(f.Payload)
		if err != nil {
			return nil, err
		}
		if err := closed(m); err != nil {
			return nil, err
		}
		if m.ID() == want {
			return m, nil
		}
	}
}

// closed returns the broker's reason when m ends the channel or the connection.
func closed(m amqpwire.Method) error {
	switch m := m.(type) {
	case *amqpwire.ConnectionClose:
		return &CloseError{m.ReplyCode, m.ReplyText}
	case *amqpwire.ChannelClose:
		return &CloseError{m.ReplyCode, m.ReplyText}
	}
	return nil
}

// fill reads more bytes. It overwrites the payloads of frames returned before.
func (c *conn) fill() error {
	c.end = copy(c.buf, c.buf[c.at:c.end])
	c.at = 0
	n, err := c.Read(c.buf[c.end:])
	c.end += n
	if err != nil && n == 0 {
		return fmt.Errorf("amqp bench: read: %w", err)
	}
	return nil
}

// frame returns the next complete frame of the buffer. If ok is false, fill must read more.
func (c *conn) frame() (f amqpwire.Frame, ok bool, err error) {
	f, n, err := amqpwire.ParseFrame(c.buf[c.at:c.end], maxFrameBytes)
	c.at += n
	return f, n > 0, err
}

// shutdown sends a close. The reading goroutine gets the answer, or the deadline expires.
func (c *conn) shutdown() {
	// Errors mean that the connection is closed already, which is the goal.
	_ = c.SetDeadline(time.Now().Add(closeTimeout))
	_ = c.send(0, &amqpwire.ConnectionClose{ReplyCode: amqpcode.Success, ReplyText: "done"})
}
