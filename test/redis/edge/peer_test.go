package edge

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// patience is how long a reply may take.
const patience = 20 * time.Second

// peer is one of the two servers, with the connections to it that a script has opened.
type peer struct {
	t     *testing.T
	addr  string
	conns map[string]*conn
	marks int
}

type conn struct {
	nc net.Conn
	r  *bufio.Reader
}

func (p *peer) conn(name string) *conn {
	p.t.Helper()
	if c := p.conns[name]; c != nil {
		return c
	}
	nc, err := net.Dial("tcp", p.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	nc.SetDeadline(time.Now().Add(patience)) //nolint:errcheck // reading tells
	c := &conn{nc, bufio.NewReader(nc)}
	p.conns[name] = c
	return c
}

// close ends all connections and waits until the server has noticed.
func (p *peer) close() {
	p.t.Helper()
	for _, c := range p.conns {
		c.nc.Close()
	}
	p.conns = map[string]*conn{}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if left := p.say("", encode("PUBSUB", "CHANNELS")+encode("PUBSUB", "NUMPAT")); slices.Equal(left, []string{"*[]", ":0"}) {
			return
		}
	}
	p.t.Fatalf("%s: subscriptions stay", p.addr)
}

// say sends something on a connection and returns all that comes before the answer to a PING behind it, or before the end of the connection.
// Messages for the connection that were published before are among it.
func (p *peer) say(name, raw string) (replies []string) {
	p.t.Helper()
	p.marks++
	mark := fmt.Sprint("mark ", p.marks)
	c := p.conn(name)
	c.nc.SetDeadline(time.Now().Add(patience))     //nolint:errcheck // reading tells
	io.WriteString(c.nc, raw+encode("PING", mark)) //nolint:errcheck // as above
	for {
		reply, err := read(c.r)
		switch {
		case err != nil:
			if !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
				p.t.Fatalf("%s: %q: %v after %q", p.addr, raw, err, replies)
			}
			c.nc.Close()
			delete(p.conns, name)
			return append(replies, "the end")
		case strings.Contains(reply, mark):
			return replies
		}
		replies = append(replies, reply)
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

// read reads one reply and writes it as text, its kind at the front.
func read(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return line, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '$', '=':
		if n < 0 {
			return line, nil
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return "", err
		}
		return line[:1] + strconv.Quote(string(b[:n])), nil
	case '*', '>', '~', '%':
		if n < 0 {
			return line, nil
		}
		if line[0] == '%' {
			n *= 2
		}
		parts := make([]string, n)
		for i := range parts {
			if parts[i], err = read(r); err != nil {
				return "", err
			}
		}
		if line[0] == '~' {
			slices.Sort(parts)
		}
		return line[:1] + "[" + strings.Join(parts, " ") + "]", nil
	}
	return line, nil
}

var (
	connectionID = regexp.MustCompile(`\$"id" :\d+`)
	unsubscribed = regexp.MustCompile(`\$"(p?unsubscribe)" \$"[^"]*"`)
)

// same writes the replies of one step so that what Redis leaves open is the same: the number of a connection, and the order of a set.
func same(command string, replies []string) string {
	var all []string
	for _, r := range replies {
		r = connectionID.ReplaceAllString(r, `$"id" :N`)
		switch {
		case strings.HasSuffix(command, "SUBSCRIBE") || strings.Contains(command, "SUBSCRIBE;"): // all of them, in any order
			r = unsubscribed.ReplaceAllString(r, `$"${1}" NAME`)
		case strings.Contains(command, "PUBSUB CHANNELS"), strings.HasPrefix(command, "COMMAND INFO"):
			words := strings.FieldsFunc(r, func(r rune) bool { return strings.ContainsRune("*[] ", r) })
			slices.Sort(words)
			r = strings.Join(words, " ")
		}
		all = append(all, r)
	}
	if strings.Contains(command, ";") && (strings.Contains(command, "PUBLISH") || strings.Contains(command, "CHANNELS")) { // as above, amid the answer to EXEC
		all = strings.FieldsFunc(strings.Join(all, " "), func(r rune) bool { return strings.ContainsRune("*>[] ", r) })
	}
	slices.Sort(all) // patterns that match get a message in any order
	return strings.Join(all, "\n")
}
