package jobs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"time"
)

// conn is a connection of the Redis protocol, version 2. Commands are buffered in out and written
// by flush. Replies are parsed incrementally.
type conn struct {
	net  net.Conn
	out  []byte
	in   []byte // in[r:w] has been read from the socket, but not parsed
	r, w int
}

const (
	bufferBytes    = 64 << 10
	connectTimeout = 10 * time.Second
)

// ErrReply is wrapped by error replies of the server.
var ErrReply = errors.New("jobs bench: the server answers")

// dial connects, logs in and selects the database, as the URL says.
func dial(u *url.URL) (*conn, error) {
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), "6379")
	}
	n, err := net.DialTimeout("tcp", address, connectTimeout)
	if err != nil {
		return nil, fmt.Errorf("jobs bench: %w", err)
	}
	c := &conn{net: n, in: make([]byte, bufferBytes)}
	if password, ok := u.User.Password(); ok {
		args := []string{"AUTH", u.User.Username(), password}
		if args[1] == "" {
			args = []string{"AUTH", password}
		}
		err = c.do(args...)
	}
	if db := bytes.Trim([]byte(u.Path), "/"); err == nil && len(db) > 0 {
		err = c.do("SELECT", string(db))
	}
	if err != nil {
		n.Close()
		return nil, err
	}
	return c, nil
}

func (c *conn) close() { c.net.Close() } //nolint:errcheck // nothing is pending

// begin begins a command of n arguments.
func (c *conn) begin(n int) { c.head('*', int64(n)) }

func (c *conn) head(kind byte, n int64) {
	c.out = append(strconv.AppendInt(append(c.out, kind), n, 10), "\r\n"...)
}

// arg adds an argument.
func (c *conn) arg(s string) {
	c.head('$', int64(len(s)))
	c.out = append(append(c.out, s...), "\r\n"...)
}

// number adds an integer argument.
func (c *conn) number(n int64) {
	var text [20]byte
	digits := strconv.AppendInt(text[:0], n, 10)
	c.head('$', int64(len(digits)))
	c.out = append(append(c.out, digits...), "\r\n"...)
}

// command adds a complete command.
func (c *conn) command(args ...string) {
	c.begin(len(args))
	for _, a := range args {
		c.arg(a)
	}
}

// do runs a command and only returns its error.
func (c *conn) do(args ...string) error {
	c.command(args...)
	if err := c.flush(); err != nil {
		return err
	}
	return c.skip()
}

// ask runs a command and returns its reply, which must be a string or a number.
func (c *conn) ask(args ...string) (string, error) {
	c.command(args...)
	if err := c.flush(); err != nil {
		return "", err
	}
	return c.text()
}

func (c *conn) flush() error {
	_, err := c.net.Write(c.out)
	c.out = c.out[:0]
	if err != nil {
		return fmt.Errorf("jobs bench: %w", err)
	}
	return nil
}

// fill reads until at least n bytes are buffered.
func (c *conn) fill(n int) error {
	if c.w-c.r >= n {
		return nil
	}
	if len(c.in)-c.r < n {
		grown := c.in
		if len(c.in) < n {
			grown = make([]byte, max(n, 2*len(c.in)))
		}
		c.w = copy(grown, c.in[c.r:c.w])
		c.in, c.r = grown, 0
	}
	for c.w-c.r < n {
		got, err := c.net.Read(c.in[c.w:])
		c.w += got
		if err != nil && c.w-c.r < n {
			return fmt.Errorf("jobs bench: %w", err)
		}
	}
	return nil
}

// line reads a line and returns it without its end. It is valid until the next read.
func (c *conn) line() ([]byte, error) {
	for have := 1; ; have = c.w - c.r + 1 {
		if err := c.fill(have); err != nil {
			return nil, err
		}
		if i := bytes.IndexByte(c.in[c.r:c.w], '\n'); i > 0 {
			text := c.in[c.r : c.r+i-1]
			c.r += i + 1
			return text, nil
		}
	}
}

// next reads the head of a reply: its type and number. An error reply is returned as an ErrReply, a
// simple string as the text.
func (c *conn) next() (kind byte, n int, text []byte, err error) {
	l, err := c.line()
	if err != nil {
		return 0, 0, nil, err
	}
	if len(l) == 0 {
		return 0, 0, nil, fmt.Errorf("jobs bench: an empty line from the server: %w", io.ErrUnexpectedEOF)
	}
	switch kind = l[0]; kind {
	case '-':
		return kind, 0, nil, fmt.Errorf("%w: %s", ErrReply, l[1:])
	case '+':
		return kind, 0, l[1:], nil
	case ':', '$', '*':
		if n, err = strconv.Atoi(string(l[1:])); err == nil {
			return kind, n, l[1:], nil
		}
	}
	return 0, 0, nil, fmt.Errorf("jobs bench: unexpected reply %q", l)
}

// bulk reads the n bytes of a string after its head.
func (c *conn) bulk(n int) ([]byte, error) {
	if err := c.fill(n + 2); err != nil {
		return nil, err
	}
	text := c.in[c.r : c.r+n]
	c.r += n + 2
	return text, nil
}

// value reads a string or a number. It is valid until the next read.
func (c *conn) value() ([]byte, error) {
	kind, n, text, err := c.next()
	if err != nil {
		return nil, err
	}
	if kind == '$' && n >= 0 {
		return c.bulk(n)
	}
	if kind == '*' || kind == '$' {
		return nil, fmt.Errorf("jobs bench: the server answers %c%d where a value is", kind, n)
	}
	return text, nil
}

func (c *conn) text() (string, error) {
	v, err := c.value()
	return string(v), err
}

// skip reads a complete reply.
func (c *conn) skip() error {
	kind, n, _, err := c.next()
	switch {
	case err != nil:
		return err
	case kind == '$' && n >= 0:
		_, err = c.bulk(n)
	case kind == '*':
		for ; n > 0 && err == nil; n-- {
			err = c.skip()
		}
	}
	return err
}

// skipAll reads n replies. If some are errors, it returns the first one after it has read all
// replies.
func (c *conn) skipAll(n int) (failed error) {
	for range n {
		if err := c.skip(); err != nil && !errors.Is(err, ErrReply) {
			return err
		} else if failed == nil {
			failed = err
		}
	}
	return failed
}
