package resptest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Client is a connection that a test controls step by step.
type Client struct {
	Conn net.Conn
	R    *bufio.Reader // reads from Conn

	t testing.TB
}

// Dial connects a client. It is closed at the end of the test.
func (n *Node) Dial() *Client {
	n.T.Helper()
	nc, err := n.open()
	if err != nil {
		n.T.Fatal(err)
	}
	nc.SetDeadline(time.Now().Add(Patience)) //nolint:errcheck // a read reports the error
	n.T.Cleanup(func() { nc.Close() })
	return &Client{Conn: nc, R: bufio.NewReader(nc), t: n.T}
}

// Send writes raw requests.
func (c *Client) Send(raw string) {
	c.t.Helper()
	if _, err := io.WriteString(c.Conn, raw); err != nil {
		c.t.Fatal(err)
	}
}

// Encode returns a request in the form in which clients send it.
func Encode(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

// Do sends a request made of words and returns the reply as text.
func (c *Client) Do(words ...string) string {
	c.t.Helper()
	c.Send(Encode(words...))
	return c.Reply()
}

// Wants sends a command, given as words separated by blanks, and compares the reply.
func (c *Client) Wants(command, want string) {
	c.t.Helper()
	if got := c.Do(strings.Fields(command)...); got != want {
		c.t.Errorf("%s: %s, want %s", command, got, want)
	}
}

// Reply reads a reply and returns it as text: an error with its minus sign, a status with its plus
// sign, strings in quotes, arrays in brackets, maps and sets in braces, and pushes after ">".
func (c *Client) Reply() string {
	c.t.Helper()
	text, err := c.Read()
	if err != nil {
		c.t.Fatalf("reading a reply: %v", err)
	}
	return text
}

// Read is like Reply, but returns failures as an error.
func (c *Client) Read() (string, error) {
	line, err := c.R.ReadString('\n')
	if err != nil {
		return line, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	kind, rest := line[0], line[1:]
	n, _ := strconv.Atoi(rest)
	switch kind {
	case '-', '+', ',', '#':
		return line, nil
	case ':':
		return rest, nil
	case '_':
		return "null", nil
	case '$', '=':
		if n < 0 {
			return "nil", nil
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(c.R, b); err != nil {
			return "", err
		}
		return strconv.Quote(string(b[:n])), nil
	case '*', '>', '~', '%':
		if n < 0 {
			return "nilarray", nil
		}
		if kind == '%' {
			n *= 2
		}
		parts := make([]string, n)
		for i := range parts {
			if parts[i], err = c.Read(); err != nil {
				return "", err
			}
		}
		text := strings.Join(parts, " ")
		switch kind {
		case '>':
			return ">[" + text + "]", nil
		case '*':
			return "[" + text + "]", nil
		}
		return "{" + text + "}", nil
	}
	return "", fmt.Errorf("a reply that begins with %q", line)
}

// Ends checks that the connection is closed without further output.
func (c *Client) Ends() {
	c.t.Helper()
	if rest, err := io.ReadAll(c.R); err != nil || len(rest) > 0 {
		c.t.Errorf("the connection goes on: %q, %v", rest, err)
	}
}

// Play sends commands and checks their replies. Each line of script is a command, " → ", and the
// reply.
func (c *Client) Play(script string) {
	c.t.Helper()
	for line := range strings.Lines(script) {
		if command, want, ok := strings.Cut(strings.TrimSpace(line), " → "); ok {
			c.Wants(command, want)
		}
	}
}
