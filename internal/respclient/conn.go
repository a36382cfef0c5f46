package respclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Conn is a RESP3 connection on which the broker may also push messages. One goroutine may send
// while another receives.
type Conn struct {
	nc net.Conn
	r  *bufio.Reader
}

// Push is a message that the broker pushes, or its confirmation of a subscription to such messages.
type Push []any

// Refusal is an error reply: a code, a space, and a text.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// RedisError makes Refusal one of go-redis' errors.
func (Refusal) RedisError() {}

// Limits for replies. No reply of the broker comes near them.
const (
	mostBytes  = 64 << 20 // of a string
	mostParts  = 1 << 20  // of an array or map
	mostNested = 8
)

var errProtocol = errors.New("unexpected answer from the broker")

// Connect connects to a broker at an address in the form of Options, and logs in.
func Connect(ctx context.Context, address string) (*Conn, error) {
	o, vhost, err := parse(address)
	if err != nil {
		return nil, err
	}
	nc, err := o.Dialer(ctx, o.Network, o.Addr)
	if err != nil {
		return nil, err
	}
	c := &Conn{nc, bufio.NewReader(nc)}
	ended := context.AfterFunc(ctx, func() { nc.Close() })
	err = c.begin(o, vhost)
	if !ended() {
		err = context.Cause(ctx)
	}
	if err != nil {
		nc.Close()
		return nil, err
	}
	return c, nil
}

// begin logs in and selects the virtual host.
func (c *Conn) begin(o *redis.Options, vhost string) error {
	hello := []string{"HELLO", "3"}
	if o.Password != "" {
		user := o.Username
		if user == "" {
			user = "default"
		}
		hello = append(hello, "AUTH", user, o.Password)
	}
	asked := [][]string{hello}
	if vhost != "" {
		asked = append(asked, []string{"SELECT", vhost})
	}
	if err := c.Send(asked...); err != nil {
		return err
	}
	for range asked {
		answer, err := c.Receive()
		if err != nil {
			return err
		}
		if refused, ok := answer.(Refusal); ok {
			return refused
		}
	}
	return nil
}

// Send sends requests in one write.
func (c *Conn) Send(requests ...[]string) error {
	var b []byte
	for _, words := range requests {
		b = fmt.Appendf(b, "*%d\r\n", len(words))
		for _, w := range words {
			b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
		}
	}
	_, err := c.nc.Write(b)
	return err
}

// Receive waits for the next message of the broker: a Push, or the reply to the next request, which
// is nil, a string, an int64, a float64, a bool, []any, map[any]any, or a Refusal. After an error
// the connection is unusable.
func (c *Conn) Receive() (any, error) { return c.value(0) }

// SetReadDeadline limits how long Receive waits.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.nc.SetReadDeadline(t) }

// Close closes the connection.
func (c *Conn) Close() error { return c.nc.Close() }

func (c *Conn) value(depth int) (any, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line, ok := strings.CutSuffix(line, "\r\n")
	if !ok || line == "" || depth > mostNested {
		return nil, errProtocol
	}
	switch kind, rest := line[0], line[1:]; kind {
	case '+':
		return rest, nil
	case '-':
		return Refusal(rest), nil
	case '_':
		return nil, nil
	case '#':
		return rest == "t", nil
	case ':':
		return whole(strconv.ParseInt(rest, 10, 64))
	case ',':
		return whole(strconv.ParseFloat(rest, 64))
	case '$', '=':
		return c.text(kind, rest)
	case '*', '~', '>', '%':
		return c.parts(kind, rest, depth)
	}
	return nil, errProtocol
}

// whole converts the result of parsing a number.
func whole[T int64 | float64](n T, err error) (any, error) {
	if err != nil {
		return nil, errProtocol
	}
	return n, nil
}

// size parses a length. -1 is the length of null.
func size(text string, most int) (int, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < -1 || n > int64(min(most, math.MaxInt32)) {
		return 0, errProtocol
	}
	return int(n), nil
}

func (c *Conn) text(kind byte, rest string) (any, error) {
	n, err := size(rest, mostBytes)
	if err != nil || n < 0 {
		return nil, err
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(c.r, b); err != nil {
		return nil, err
	}
	text := string(b[:n])
	if kind == '=' { // a verbatim string starts with its format
		_, text, _ = strings.Cut(text, ":")
	}
	return text, nil
}

func (c *Conn) parts(kind byte, rest string, depth int) (any, error) {
	n, err := size(rest, mostParts)
	if err != nil || n < 0 {
		return nil, err
	}
	if kind == '%' {
		return c.fields(n, depth)
	}
	var list []any // grows with what arrives, not with the announced length
	for range n {
		v, err := c.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	if kind == '>' {
		return Push(list), nil
	}
	return list, nil
}

func (c *Conn) fields(n, depth int) (any, error) {
	m := map[any]any{}
	for range n {
		k, err := c.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v, err := c.value(depth + 1)
		if err != nil {
			return nil, err
		}
		switch k.(type) {
		case string, int64, float64, bool:
			m[k] = v
		default:
			return nil, errProtocol
		}
	}
	return m, nil
}
