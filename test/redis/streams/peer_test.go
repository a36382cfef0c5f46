package streams

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"fiveways/internal/broker"
	"fiveways/internal/protocol/resp"
	"fiveways/internal/storage/vfs"
)

const patience = 20 * time.Second

// serve starts a broker on files in memory and returns where it listens.
func serve(t testing.TB) string {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	b, err := broker.Open(vfs.NewMem(), "data", broker.Options{Logger: log, DiskFreeLimit: -1, Shards: 3})
	if err != nil {
		t.Fatal(err)
	}
	srv := resp.New(b, resp.Options{Log: log})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(ln) //nolint:errcheck // Drain ends it
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := srv.Drain(ctx); err != nil {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

// peer is a connection to one of the two, with the ids that it gave by its clock.
type peer struct {
	t     testing.TB
	nc    net.Conn
	r     *bufio.Reader
	given []string          // by the number of its place-holder
	names map[string]string // place-holders by id
}

func dial(t testing.TB, addr string) *peer {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return &peer{t: t, nc: nc, r: bufio.NewReader(nc), names: map[string]string{}}
}

// send writes a command; <n> stands for the n-th id that came from the clock.
func (p *peer) send(args []string) {
	p.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		a = placeHolder.ReplaceAllStringFunc(a, func(s string) string {
			n, _ := strconv.Atoi(s[1 : len(s)-1])
			return p.given[n]
		})
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	p.nc.SetDeadline(time.Now().Add(patience)) //nolint:errcheck // writing tells
	if _, err := io.WriteString(p.nc, b.String()); err != nil {
		p.t.Fatal(err)
	}
}

// do sends a command and returns the reply as text that is the same for both.
func (p *peer) do(args []string) string {
	p.t.Helper()
	p.send(args)
	return p.reply()
}

func (p *peer) reply() string {
	p.t.Helper()
	text, err := p.read()
	if err != nil {
		p.t.Fatalf("reading a reply: %v", err)
	}
	return p.normal(text)
}

var (
	placeHolder = regexp.MustCompile(`<\d+>`)
	clockID     = regexp.MustCompile(`\d{13}-\d+`)
	pendingOne  = regexp.MustCompile(`(\["[^" ]+" "[^" ]*" )(\d+)( \d+\])`)
	idle        = regexp.MustCompile(`("idle" )(\d+)`)
	clockTime   = regexp.MustCompile(`\b\d{13}\b`)
	nodes       = regexp.MustCompile(`"radix-tree-nodes" \d+`)
)

// normal makes of a reply what must be the same: ids of the clock get the names of their place-holders, times are left out, and how long something
// is idle is in hours.
func (p *peer) normal(text string) string {
	text = clockID.ReplaceAllStringFunc(text, func(id string) string {
		if p.names[id] == "" {
			p.names[id] = fmt.Sprintf("<%d>", len(p.given))
			p.given = append(p.given, id)
		}
		return p.names[id]
	})
	text = clockTime.ReplaceAllString(text, "TIME")
	hours := func(re *regexp.Regexp) {
		text = re.ReplaceAllStringFunc(text, func(s string) string {
			part := re.FindStringSubmatch(s)
			n, _ := strconv.ParseInt(part[2], 10, 64)
			part[2] = fmt.Sprintf("%dh", n/time.Hour.Milliseconds())
			return strings.Join(part[1:], "")
		})
	}
	hours(pendingOne)
	hours(idle)
	return nodes.ReplaceAllString(text, `"radix-tree-nodes" N`)
}

// read reads one reply as text.
func (p *peer) read() (string, error) {
	line, err := p.r.ReadString('\n')
	if err != nil {
		return line, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case ':':
		return line[1:], nil
	case '$':
		if n < 0 {
			return "nil", nil
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(p.r, b); err != nil {
			return "", err
		}
		return strconv.Quote(string(b[:n])), nil
	case '*', '%':
		if n < 0 {
			return "nilarray", nil
		}
		open, end := "[", "]"
		if line[0] == '%' {
			n *= 2
			open, end = "{", "}"
		}
		parts := make([]string, n)
		for i := range parts {
			if parts[i], err = p.read(); err != nil {
				return "", err
			}
		}
		return open + strings.Join(parts, " ") + end, nil
	}
	return line, nil
}
