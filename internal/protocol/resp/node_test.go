package resp

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fiveways/internal/broker"
	"fiveways/internal/semaphores"
	"fiveways/internal/storage/vfs"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// node is a broker with this protocol in front of it.
type node struct {
	t    testing.TB
	b    *broker.Broker
	srv  *Server
	addr string
	log  logText
}

// logText is a log that is read while it is written.
type logText struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// startNode starts a broker on files in memory.
func startNode(t testing.TB, o Options) *node {
	t.Helper()
	return startNodeOn(t, o, broker.Options{DiskFreeLimit: -1})
}

// startNodeOn starts a broker with options of its own.
func startNodeOn(t testing.TB, o Options, engine broker.Options) *node {
	t.Helper()
	n := &node{t: t}
	log := slog.New(slog.NewTextHandler(&n.log, nil))
	var err error
	engine.Logger = log
	o.Semaphores = semaphores.New(semaphores.Options{Logger: log})
	engine.Annexes = map[uint32]broker.Annex{broker.SemaphoreShard: o.Semaphores}
	if n.b, err = broker.Open(vfs.NewMem(), "data", engine); err != nil {
		t.Fatal(err)
	}
	if err := o.Semaphores.Start(n.b); err != nil {
		t.Fatal(err)
	}
	o.Log = log
	if o.LoginDelay == 0 {
		o.LoginDelay = -1
	}
	n.srv = New(n.b, o)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n.addr = ln.Addr().String()
	go n.srv.Serve(ln) //nolint:errcheck // Drain ends it
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := n.srv.Drain(ctx); err != nil {
			t.Error(err)
		}
		o.Semaphores.Stop()
		if err := n.b.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// client is a connection that a test drives by hand.
type client struct {
	t  testing.TB
	nc net.Conn
	r  *bufio.Reader
}

func (n *node) dial() *client {
	n.t.Helper()
	nc, err := net.Dial("tcp", n.addr)
	if err != nil {
		n.t.Fatal(err)
	}
	nc.SetDeadline(time.Now().Add(patience)) //nolint:errcheck // reading tells
	n.t.Cleanup(func() { nc.Close() })
	return &client{n.t, nc, bufio.NewReader(nc)}
}

// send writes requests as they are.
func (c *client) send(raw string) {
	c.t.Helper()
	if _, err := io.WriteString(c.nc, raw); err != nil {
		c.t.Fatal(err)
	}
}

// encode is a request as clients send it.
func encode(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

// do sends one request of words and returns the reply as text.
func (c *client) do(words ...string) string {
	c.t.Helper()
	c.send(encode(words...))
	return c.reply()
}

// wants does a command, given as words with blanks between them, and compares the reply.
func (c *client) wants(command, want string) {
	c.t.Helper()
	if got := c.do(strings.Fields(command)...); got != want {
		c.t.Errorf("%s: %s, want %s", command, got, want)
	}
}

// reply reads one reply and writes it as text: an error with its minus sign, a status with its plus sign, strings in quotes, arrays in brackets,
// maps and sets in braces, pushes behind >.
func (c *client) reply() string {
	c.t.Helper()
	text, err := c.read()
	if err != nil {
		c.t.Fatalf("reading a reply: %v", err)
	}
	return text
}

func (c *client) read() (string, error) {
	line, err := c.r.ReadString('\n')
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
		if _, err := io.ReadFull(c.r, b); err != nil {
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
			if parts[i], err = c.read(); err != nil {
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

// ends checks that the connection ends without another word.
func (c *client) ends() {
	c.t.Helper()
	if rest, err := io.ReadAll(c.r); err != nil || len(rest) > 0 {
		c.t.Errorf("the connection goes on: %q, %v", rest, err)
	}
}

// user makes a user with all permissions in "/".
func (n *node) user(name, password string) {
	n.t.Helper()
	if _, err := n.b.PutUser(broker.UserSpec{Name: name, Password: password}); err != nil {
		n.t.Fatal(err)
	}
	if _, err := n.b.SetPermission(broker.Permission{User: name, VHost: "/", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
		n.t.Fatal(err)
	}
}
