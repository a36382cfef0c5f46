package duel

import (
	"bufio"
	"io"
	"net"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// patience is the timeout of a reply.
const patience = 20 * time.Second

// end is recorded as the last reply of a connection that the server closes.
const end = "the end"

// peer is one of the two servers, with the connections to it that a sequence has opened.
type peer struct {
	t        testing.TB
	name     string
	addr     string
	resp3    bool
	language Language
	conns    map[string]*conn
	watch    *conn // not part of a sequence: queries the server's state
	silent   int   // commands without a reply so far
	marks    int
}

// conn is a connection. Replies are read in the background.
type conn struct {
	nc      net.Conn
	replies chan string // closed after the last one
	waits   bool        // for a reply
}

func (p *peer) dial() *conn {
	p.t.Helper()
	nc, err := net.Dial("tcp", p.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	c := &conn{nc: nc, replies: make(chan string, 64)}
	go func() {
		defer close(c.replies)
		for r := bufio.NewReader(nc); ; {
			reply, err := readReply(r)
			if err != nil {
				return
			}
			c.replies <- reply
		}
	}()
	return c
}

// hangUp closes a connection, which ends its reader.
func (c *conn) hangUp() {
	c.nc.Close()
	for range c.replies {
	}
}

// conn returns the connection with a name.
func (p *peer) conn(name string) *conn {
	p.t.Helper()
	c := p.conns[name]
	if c == nil {
		c = p.dial()
		p.conns[name] = c
		if p.resp3 {
			p.write(c, encode("HELLO", "3"))
			p.next(c)
		}
	}
	return c
}

// drop forgets a connection that the server has closed.
func (p *peer) drop(name string) {
	p.conns[name].nc.Close()
	delete(p.conns, name)
}

// send writes a step, translated for this server, and further bytes.
func (p *peer) send(c *conn, s Step, further string) {
	p.t.Helper()
	raw := s.Raw
	for _, words := range s.Commands {
		said := make([]string, len(words))
		for i, w := range words {
			said[i] = p.language.Word(w)
		}
		raw += encode(said...)
	}
	p.write(c, raw+further)
}

// write sends bytes. If the server has closed the connection, its reader reports that.
func (p *peer) write(c *conn, raw string) {
	c.nc.SetWriteDeadline(time.Now().Add(patience)) //nolint:errcheck // as above
	io.WriteString(c.nc, raw)                       //nolint:errcheck // as above
}

// next returns the next reply of a connection.
func (p *peer) next(c *conn) string {
	p.t.Helper()
	select {
	case reply, ok := <-c.replies:
		if !ok {
			return end
		}
		return reply
	case <-time.After(patience):
		p.t.Fatalf("%s does not answer", p.name)
	}
	return ""
}

// ask sends a command outside the sequence.
func (p *peer) ask(words ...string) string {
	p.t.Helper()
	if p.watch == nil {
		p.watch = p.dial()
	}
	p.write(p.watch, encode(words...))
	return p.next(p.watch)
}

var blockedClients = regexp.MustCompile(`blocked_clients:(\d+)`)

// blocked returns the number of blocked clients, as reported by the server.
func (p *peer) blocked() int {
	p.t.Helper()
	m := blockedClients.FindStringSubmatch(p.ask("INFO", "clients"))
	if m == nil {
		p.t.Fatalf("%s: INFO does not tell how many clients wait", p.name)
	}
	n, _ := strconv.Atoi(m[1])
	return n
}
