package respclient

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// said returns a connection on which the broker sends this.
func said(text string) *Conn { return &Conn{r: bufio.NewReader(strings.NewReader(text))} }

func TestReceive(t *testing.T) {
	for text, want := range map[string]any{
		"+OK\r\n": "OK", "-ERR no\r\n": Refusal("ERR no"), "_\r\n": nil, "$-1\r\n": nil, "*-1\r\n": nil, ":-7\r\n": int64(-7), ",2.5\r\n": 2.5, "#t\r\n": true,
		"$4\r\na\r\nb\r\n": "a\r\nb", "$0\r\n\r\n": "", "=5\r\ntxt:x\r\n": "x", "*2\r\n:1\r\n*1\r\n+x\r\n": []any{int64(1), []any{"x"}},
		">2\r\n+a\r\n_\r\n": Push{"a", nil}, "%1\r\n+k\r\n:1\r\n": map[any]any{"k": int64(1)}, "~1\r\n:1\r\n": []any{int64(1)},
	} {
		if got, err := said(text).Receive(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %#v, %v; want %#v", text, got, err, want)
		}
	}
}

func TestReceiveNonsense(t *testing.T) {
	for _, text := range []string{
		"", "\r\n", "+OK", "+OK\n", "?\r\n", ":x\r\n", ",x\r\n", "$-2\r\n", "$5\r\nab\r\n", "$99999999999\r\n", "*9999999\r\n", "*1\r\n", "%1\r\n+k\r\n",
		"%1\r\n*0\r\n:1\r\n", "$x\r\n", strings.Repeat("*1\r\n", 20) + "_\r\n",
	} {
		if got, err := said(text).Receive(); err == nil {
			t.Errorf("%q: %#v", text, got)
		}
	}
}

func FuzzReceive(f *testing.F) {
	for _, text := range []string{"+OK\r\n", ">2\r\n$1\r\na\r\n%1\r\n+k\r\n,1\r\n", "*3\r\n:1\r\n#f\r\n_\r\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := said(text)
		for {
			v, err := c.Receive()
			if err != nil {
				return
			}
			_ = fmt.Sprint(v)
		}
	})
}

// TestIsReply: the answer of a node that knows no leader is not a reply.
func TestIsReply(t *testing.T) {
	for err, want := range map[error]bool{Refusal("NOSEM x"): true, Refusal("LOADING no node leads"): false, io.EOF: false, nil: false} {
		if got := IsReply(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}
