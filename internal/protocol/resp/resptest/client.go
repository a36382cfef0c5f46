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

// Client is a connection that a test drives by hand.
type Client struct {
	Conn net.Conn
	R    *bufio.Reader // of Conn

	t testing.TB
}

// Dial connects a client; the end of the test closes it.
func (n *Node) Dial() *Client {
	n.T.Helper()
	nc, err := n.open()
	if err != nil {
		n.T.Fatal(err)
	}
	nc.SetDeadline(time.Now().Add(Patience)) //nolint:errcheck // reading tells
	n.T.Cleanup(func() { nc.Close() })
	return &Client{Conn: nc, R: bufio.NewReader(nc), t: n.T}
}

// Send writes requests as they are.
func (c *Client) Send(raw string) {
	c.t.Helper()
	if _, err := io.WriteString(c.Conn, raw); err != nil {
		c.t.Fatal(err)
	}
}

// Encode is a request as clients send it.
func Encode(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

// Do sends one request of words and returns the reply as text.
func (c *Client) Do(words ...string) string {
	c.t.Helper()
	c.Send(Encode(words...))
	return c.Reply()
}

// Wants does a command, given as words with blanks between them, and compares the reply.
func (c *Client) Wants(command, want string) {
	c.t.Helper()
	if got := c.Do(strings.Fields(command)...); got != want {
		c.t.Errorf("%s: %s, want %s", command, got, want)
	}
}

// Reply reads one reply and writes it as text: an error with its minus sign, a status with its plus
// sign, strings in quotes, arrays in brackets, maps and sets in braces, pushes behind >.
func (c *Client) Reply() string {
	c.t.Helper()
	text, err := c.Read()
	if err != nil {
		c.t.Fatalf("reading a reply: %v", err)
	}
	return text
}

// Read is Reply with what went wrong as an error.
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

// Ends checks that the connection ends without another word.
func (c *Client) Ends() {
	c.t.Helper()
	if rest, err := io.ReadAll(c.R); err != nil || len(rest) > 0 {
		c.t.Errorf("the connection goes on: %q, %v", rest, err)
	}
}

// Play does commands, each with its reply behind →.
func (c *Client) Play(script string) {
	c.t.Helper()
	for line := range strings.Lines(script) {
		if command, want, ok := strings.Cut(strings.TrimSpace(line), " → "); ok {
			c.Wants(command, want)
		}
	}
}
