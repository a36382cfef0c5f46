package redis

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// patience is how long a reply may take.
const patience = 20 * time.Second

// peer is one of the two servers.
type peer struct {
	t      testing.TB
	name   string
	addr   string
	resp3  bool
	conns  map[int]*conn
	watch  *conn // asks how many wait
	silent int   // commands without a reply yet
}

// conn is a connection. Its replies come as they do.
type conn struct {
	nc      net.Conn
	replies chan []byte
	waits   bool // for a reply
}

func (p *peer) dial() *conn {
	p.t.Helper()
	nc, err := net.Dial("tcp", p.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	c := &conn{nc: nc, replies: make(chan []byte, 64)}
	go func() {
		defer close(c.replies)
		for r := bufio.NewReader(nc); ; {
			raw, err := readReply(r, nil)
			if err != nil {
				return
			}
			c.replies <- raw
		}
	}()
	return c
}

// conn is the connection of a number.
func (p *peer) conn(number int) *conn {
	p.t.Helper()
	c := p.conns[number]
	if c == nil {
		c = p.dial()
		p.conns[number] = c
		if p.resp3 {
			p.send(c, []string{"HELLO", "3"})
			p.next(c)
		}
	}
	return c
}

func (p *peer) send(c *conn, words []string) {
	p.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := io.WriteString(c.nc, b.String()); err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
}

// next is the next reply of a connection.
func (p *peer) next(c *conn) []byte {
	p.t.Helper()
	select {
	case raw, ok := <-c.replies:
		if !ok {
			p.t.Fatalf("%s has closed the connection", p.name)
		}
		return raw
	case <-time.After(patience):
		p.t.Fatalf("%s does not answer", p.name)
	}
	return nil
}

// blocked is how many clients wait for something, as the server tells it.
func (p *peer) blocked() int {
	p.t.Helper()
	if p.watch == nil {
		p.watch = p.dial()
	}
	p.send(p.watch, []string{"INFO", "clients"})
	_, after, _ := bytes.Cut(p.next(p.watch), []byte("blocked_clients:"))
	digits, _, _ := bytes.Cut(after, []byte("\r"))
	n, err := strconv.Atoi(string(digits))
	if err != nil {
		p.t.Fatalf("%s: INFO: %v", p.name, err)
	}
	return n
}

// settle gathers replies until every command is answered, or waits unless all is to be answered, and returns them by connection. What takes no time
// has been done by then.
func (p *peer) settle(all bool) map[int]string {
	p.t.Helper()
	got := map[int]string{}
	for late := time.Now().Add(patience); ; {
		for number, c := range p.conns {
			select {
			case raw, ok := <-c.replies:
				if !ok {
					raw = []byte("closed")
				}
				got[number] += string(raw)
				if c.waits {
					c.waits = false
					p.silent--
				}
				continue
			default:
			}
		}
		if p.silent == 0 || !all && p.blocked() == p.silent && !p.arrived() {
			return got
		}
		if time.Now().After(late) {
			p.t.Fatalf("%s neither answers nor waits: %d commands", p.name, p.silent)
		}
	}
}

// arrived tells whether a reply is there that nobody has looked at.
func (p *peer) arrived() bool {
	for _, c := range p.conns {
		if len(c.replies) > 0 {
			return true
		}
	}
	return false
}

// hangUp closes all connections.
func (p *peer) hangUp() {
	for _, c := range p.conns {
		c.nc.Close()
	}
	p.conns, p.silent = map[int]*conn{}, 0
}

// readReply appends one whole reply of either version of the protocol to dst.
func readReply(r *bufio.Reader, dst []byte) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	dst = append(dst, line...)
	if err != nil || len(line) < 3 {
		return dst, err
	}
	n, _ := strconv.Atoi(string(line[1 : len(line)-2]))
	switch line[0] {
	case '$', '=', '!':
		if n < 0 {
			return dst, nil
		}
		at := len(dst)
		dst = append(dst, make([]byte, n+2)...)
		_, err = io.ReadFull(r, dst[at:])
		return dst, err
	case '%', '|':
		n *= 2
	case '*', '~', '>':
	default:
		return dst, nil
	}
	for ; n > 0 && err == nil; n-- {
		dst, err = readReply(r, dst)
	}
	return dst, err
}
