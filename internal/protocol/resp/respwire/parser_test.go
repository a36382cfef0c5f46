package respwire

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func limits() Limits { return Limits{Bulk: 1 << 20, Request: 2 << 20} }

// all parses all requests in sent, with reads that end at cuts, and returns them as text.
func all(p *Parser, sent []byte, cuts ...int) string {
	var text strings.Builder
	from := 0
	for _, cut := range append(cuts, len(sent)) {
		for {
			args, n, err := p.Next(sent[from:cut], nil)
			if err != nil {
				fmt.Fprintf(&text, "! %v", err)
				return text.String()
			}
			if n == 0 {
				break
			}
			from += n
			fmt.Fprintf(&text, "%q", args)
		}
	}
	if from < len(sent) {
		fmt.Fprintf(&text, " and %d bytes", len(sent)-from)
	}
	return text.String()
}

func TestParser(t *testing.T) {
	for _, tc := range []struct{ sent, want string }{
		{"*1\r\n$4\r\nPING\r\n", `["PING"]`},
		{"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n*1\r\n$1\r\na\r\n", `["ECHO" ""]["a"]`},
		{"*2\r\n$4\r\nECHO\r\n$3\r\na\r", `` + " and 20 bytes"},
		{"*0\r\n*-1\r\nPING\r\n", `[][]["PING"]`},
		{"PING\r\n", `["PING"]`}, {"PING\n", `["PING"]`}, {"\r\n", `[]`}, {"  a  b \r\n", `["a" "b"]`}, {"PIN", " and 3 bytes"},
		{"a \"b c\" 'd e' \"\\x41\\n\\\"\\q\" '\\'\\n' \"\" \r\n", `["a" "b c" "d e" "A\n\"q" "'\\n" ""]`},
		{"a\"b\"\r\n", `["ab"]`}, {"a\"b\"c\r\n", "! Protocol error: unbalanced quotes in request"}, {"'a\r\n", "! Protocol error: unbalanced quotes in request"},
		{"\"\\x4\"\r\n", `["x4"]`}, {"\"a\\", " and 3 bytes"}, {"a\x00b\r\n", `["a"]`},
		{"*x\r\n", "! Protocol error: invalid multibulk length"}, {"*01\r\n", "! Protocol error: invalid multibulk length"},
		{"*+1\r\n", "! Protocol error: invalid multibulk length"}, {"*\r\n", "! Protocol error: invalid multibulk length"},
		{"*1048577\r\n", "! Protocol error: invalid multibulk length"}, {"*99999999999999999999\r\n", "! Protocol error: invalid multibulk length"},
		{"*1\r\nPING\r\n", "! Protocol error: expected '$', got 'P'"}, {"*1\r\n\r\n", "! Protocol error: expected '$', got '\r'"},
		{"*1\r\n$-1\r\n", "! Protocol error: invalid bulk length"}, {"*1\r\n$x\r\n", "! Protocol error: invalid bulk length"},
		{"*1\r\n$1048577\r\n", "! Protocol error: invalid bulk length"},
		{"*3\r\n$1048576\r\n" + strings.Repeat("a", 1<<20) + "\r\n$1048576\r\n", "! Protocol error: too big request"},
		{strings.Repeat("a", maxLine+1), "! Protocol error: too big inline request"},
		{"*" + strings.Repeat("1", maxLine+1), "! Protocol error: too big mbulk count string"},
		{"*1\r\n$" + strings.Repeat("1", maxLine+1), "! Protocol error: too big bulk count string"},
	} {
		if got := all(&Parser{Limits: limits()}, []byte(tc.sent)); got != tc.want {
			t.Errorf("%.60q: %s, want %s", tc.sent, got, tc.want)
		}
	}
}

// TestStranger checks that requests before the login must be small.
func TestStranger(t *testing.T) {
	for _, tc := range []struct{ sent, want string }{
		{"*11\r\n", "! Protocol error: unauthenticated multibulk length"},
		{"*1\r\n$16385\r\n", "! Protocol error: unauthenticated bulk length"},
		{"*1\r\n$1\r\na\r\n", `["a"]`},
	} {
		if got := all(&Parser{Limits: limits(), Stranger: true}, []byte(tc.sent)); got != tc.want {
			t.Errorf("%q: %s", tc.sent, got)
		}
	}
}

// TestPieces checks that the result does not depend on how a request is split, and that Want asks
// for enough.
func TestPieces(t *testing.T) {
	sent := []byte("*3\r\n$5\r\nLPUSH\r\n$1\r\nq\r\n$10\r\n0123456789\r\n*0\r\nPING 'x y'\r\n*1\r\n$4\r\nQUIT\r\n")
	want := all(&Parser{Limits: limits()}, sent)
	for first := range len(sent) {
		for second := first; second < len(sent); second++ {
			if got := all(&Parser{Limits: limits()}, sent, first, second); got != want {
				t.Fatalf("read up to %d and %d: %s, want %s", first, second, got, want)
			}
		}
	}
	p := Parser{Limits: limits()}
	one := []byte("*1\r\n$10\r\n0123456789\r\n")
	if _, n, err := p.Next(one[:12], nil); n != 0 || err != nil || p.Want() != len(one) || !p.Busy() {
		t.Errorf("n %d, %v, wants %d of %d", n, err, p.Want(), len(one))
	}
}

// TestLargeRequestIsLookedAtOnce checks that arguments that arrive one by one are not parsed
// repeatedly.
func TestLargeRequestIsLookedAtOnce(t *testing.T) {
	const n = 200_000
	sent := []byte(fmt.Sprintf("*%d\r\n", n) + strings.Repeat("$1\r\na\r\n", n))
	p := Parser{Limits: limits()}
	for at := 100; at < len(sent); at += 100 {
		if _, got, err := p.Next(sent[:at], nil); got != 0 || err != nil {
			t.Fatal(got, err)
		}
	}
	if args, got, err := p.Next(sent, nil); len(args) != n || got != len(sent) || err != nil {
		t.Error(len(args), got, err)
	}
}

// FuzzParser checks that any input is parsed or refused in the same way whole and in two pieces,
// and that all arguments are slices of the input.
func FuzzParser(f *testing.F) {
	for _, s := range []string{"*1\r\n$4\r\nPING\r\n", "*2\r\n$1\r\na\r\n$0\r\n\r\n", "PING \"a\\x41\" 'b'\r\n", "*-1\r\n*0\r\n\r\n", "*1\r\n$-1\r\n"} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, sent []byte, cut int) {
		whole := all(&Parser{Limits: Limits{Bulk: 100, Request: 1000}}, sent)
		if cut < 0 || cut > len(sent) {
			return
		}
		if pieces := all(&Parser{Limits: Limits{Bulk: 100, Request: 1000}}, sent, cut); pieces != whole {
			t.Errorf("%q cut at %d: %s, whole %s", sent, cut, pieces, whole)
		}
		p := Parser{Limits: Limits{Bulk: 100, Request: 1000}}
		args, n, err := p.Next(sent, nil)
		var malformed ProtocolError
		if err != nil && !errors.As(err, &malformed) || n > len(sent) || n == 0 && len(args) > 0 {
			t.Errorf("%q: %d, %v, %q", sent, n, err, args)
		}
		if len(sent) == 0 || sent[0] != '*' || len(args) == 0 {
			return
		}
		var again bytes.Buffer
		fmt.Fprintf(&again, "*%d\r\n", len(args))
		for _, a := range args {
			fmt.Fprintf(&again, "$%d\r\n%s\r\n", len(a), a)
		}
		if b := again.Bytes(); len(b) != n || args != nil && all(&Parser{Limits: limits()}, b) != fmt.Sprintf("%q", args) {
			t.Errorf("%q is understood as %q", sent, b)
		}
	})
}
