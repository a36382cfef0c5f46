package amqp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// answerTimeout ends a test whose server does not answer.
const answerTimeout = 20 * time.Second

// node is a broker in memory with a server on a free port.
type node struct {
	t    testing.TB
	disk *vfs.Errors
	b    *broker.Broker
	s    *Server
	addr string

	failed bool // the test makes the log fail, so the broker cannot close cleanly
}

func startNode(t testing.TB, o Options, bo broker.Options) *node {
	t.Helper()
	return startNodeOn(t, vfs.NewMem(), o, bo)
}

// startNodeOn is startNode with the existing content of a disk.
func startNodeOn(t testing.TB, mem *vfs.Mem, o Options, bo broker.Options) *node {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	bo.Logger = o.Log
	disk := vfs.NewErrors(mem)
	b := enginetest.Open(t, disk, func(to *broker.Options) { *to = bo })
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, disk: disk, b: b, s: New(b, o), addr: ln.Addr().String()}
	served := make(chan error, 1)
	go func() { served <- n.s.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		n.s.Drain(ctx) //nolint:errcheck // connections that tests leave open are closed by force
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if !n.failed {
			enginetest.Close(t, b)
		} else if err := b.Close(); err == nil {
			t.Error("it closes in order although the log has failed")
		}
	})
	return n
}

// client speaks AMQP by hand.
type client struct {
	t         testing.TB
	nc        net.Conn
	buf       []byte
	heartbeat uint16 // seconds, asked for at the login
	user      string // "" is guest
}

// frame is a frame that owns its payload.
type frame = amqpwire.Frame

func (n *node) dial() *client {
	n.t.Helper()
	nc, err := net.Dial("tcp", n.addr)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(answerTimeout)) //nolint:errcheck // a socket of ours
	return &client{t: n.t, nc: nc}
}

// login opens a connection on vhost /.
func (n *node) login(capabilities ...string) *client {
	n.t.Helper()
	c := n.dial()
	c.login(capabilities...)
	return c
}

// login performs the handshake up to connection.open-ok.
func (c *client) login(capabilities ...string) {
	c.t.Helper()
	c.write([]byte(amqpwire.ProtocolHeader))
	expect[*amqpwire.ConnectionStart](c, 0)
	user := cmp.Or(c.user, "guest")
	var caps message.Table
	for _, name := range capabilities {
		caps = append(caps, message.Field{Name: name, Value: true})
	}
	c.send(0, &amqpwire.ConnectionStartOk{
		ClientProperties: message.Table{{Name: "capabilities", Value: caps}}, Mechanism: "PLAIN", Response: []byte("\x00" + user + "\x00" + user), Locale: "en_US",
	})
	tune := expect[*amqpwire.ConnectionTune](c, 0)
	c.send(0, &amqpwire.ConnectionTuneOk{ChannelMax: tune.ChannelMax, FrameMax: tune.FrameMax, Heartbeat: c.heartbeat})
	c.send(0, &amqpwire.ConnectionOpen{VirtualHost: "/"})
	expect[*amqpwire.ConnectionOpenOk](c, 0)
}

func (c *client) open(channel uint16) {
	c.t.Helper()
	c.send(channel, &amqpwire.ChannelOpen{})
	expect[*amqpwire.ChannelOpenOk](c, channel)
}

func (c *client) write(b []byte) {
	c.t.Helper()
	if _, err := c.nc.Write(b); err != nil {
		c.t.Fatalf("write: %v", err)
	}
}

func (c *client) send(channel uint16, m amqpwire.Method) {
	c.t.Helper()
	c.write(amqpwire.AppendMethodFrame(nil, channel, m))
}

func (c *client) publish(channel uint16, exchange, key string, mandatory bool, p message.Properties, body string) {
	c.t.Helper()
	c.write(amqpwire.AppendPublish(nil, channel, exchange, key, mandatory, p.Append(nil), []byte(body), 4096))
}

// next reads one frame; io.EOF when the server closed.
func (c *client) next() (frame, error) {
	for {
		f, n, err := amqpwire.ParseFrame(c.buf, 0)
		if err != nil {
			return f, err
		}
		if n > 0 {
			c.buf = c.buf[n:]
			if f.Type == amqpwire.FrameHeartbeat {
				continue
			}
			return f, nil
		}
		more := make([]byte, 64<<10)
		read, err := c.nc.Read(more)
		if read == 0 {
			return f, err
		}
		c.buf = append(c.buf[:len(c.buf):len(c.buf)], more[:read]...)
	}
}

func (c *client) method() (uint16, amqpwire.Method) {
	c.t.Helper()
	f, err := c.next()
	if err != nil {
		c.t.Fatalf("waiting for a method: %v", err)
	}
	if f.Type != amqpwire.FrameMethod {
		c.t.Fatalf("got a frame of type %d, want a method", f.Type)
	}
	m, err := amqpwire.DecodeMethod(f.Payload)
	if err != nil {
		c.t.Fatal(err)
	}
	return f.Channel, m
}

// expect reads a method that must be an M on the channel.
func expect[M amqpwire.Method](c *client, channel uint16) M {
	c.t.Helper()
	on, m := c.method()
	got, ok := m.(M)
	if !ok || on != channel {
		var want M
		c.t.Fatalf("got %T %+v on channel %d, want %T on %d", m, m, on, want, channel)
	}
	return got
}

// content reads header and body after a method that has them.
func (c *client) content() (props message.Properties, body string) {
	c.t.Helper()
	f, err := c.next()
	if err != nil || f.Type != amqpwire.FrameHeader {
		c.t.Fatalf("waiting for a content header: type %d, %v", f.Type, err)
	}
	_, size, raw, err := amqpwire.ParseContentHeader(f.Payload)
	if err != nil {
		c.t.Fatal(err)
	}
	if props, err = message.DecodeProperties(raw); err != nil {
		c.t.Fatal(err)
	}
	for uint64(len(body)) < size {
		f, err := c.next()
		if err != nil || f.Type != amqpwire.FrameBody {
			c.t.Fatalf("waiting for a body: type %d, %v", f.Type, err)
		}
		body += string(f.Payload)
	}
	return props, body
}

// delivery reads a whole basic.deliver.
func (c *client) delivery(channel uint16) (*amqpwire.BasicDeliver, string) {
	c.t.Helper()
	m := expect[*amqpwire.BasicDeliver](c, channel)
	_, body := c.content()
	return m, body
}

// call sends a method and reads the answer, which must equal want.
func (c *client) call(channel uint16, m, want amqpwire.Method) {
	c.t.Helper()
	c.send(channel, m)
	on, got := c.method()
	if on != channel || !reflect.DeepEqual(got, want) {
		c.t.Fatalf("%T: got %T %+v on %d, want %+v", m, got, got, on, want)
	}
}

// declare declares a queue.
func (c *client) declare(channel uint16, m amqpwire.QueueDeclare) *amqpwire.QueueDeclareOk {
	c.t.Helper()
	c.send(channel, &m)
	return expect[*amqpwire.QueueDeclareOk](c, channel)
}

// closeText formats the code and text of a close.
func closeText(code uint16, text string) string { return fmt.Sprintf("%d %s", code, text) }

// channelClosed reads channel.close and answers it.
func (c *client) channelClosed(channel uint16) string {
	c.t.Helper()
	m := expect[*amqpwire.ChannelClose](c, channel)
	c.send(channel, &amqpwire.ChannelCloseOk{})
	return closeText(m.ReplyCode, m.ReplyText)
}

// connectionClosed reads connection.close, answers it, and waits for the end.
func (c *client) connectionClosed() string {
	c.t.Helper()
	m := expect[*amqpwire.ConnectionClose](c, 0)
	c.nc.Write(amqpwire.AppendMethodFrame(nil, 0, &amqpwire.ConnectionCloseOk{})) //nolint:errcheck // the server may be gone
	if m.ReplyCode == amqpcode.FrameError {
		c.nc.(*net.TCPConn).CloseWrite() //nolint:errcheck // as above; the server reads nothing after a framing error
	}
	c.gone()
	return closeText(m.ReplyCode, m.ReplyText)
}

// gone waits for the server to close the socket.
func (c *client) gone() {
	c.t.Helper()
	for {
		f, err := c.next()
		var timeout net.Error
		switch {
		case errors.As(err, &timeout) && timeout.Timeout():
			c.t.Fatal("the server did not close the connection")
		case err != nil:
			return
		}
		c.t.Fatalf("frame of type %d instead of the end", f.Type)
	}
}
