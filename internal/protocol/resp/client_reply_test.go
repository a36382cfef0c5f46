package resp

import (
	_ "embed"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

//go:embed testdata/client_reply.txt
var clientReplies string

var connectionNumber = regexp.MustCompile(`(\$2\r\nid\r\n:)\d+`)

// TestClientReply checks that CLIENT REPLY OFF and SKIP suppress the same output as in Redis:
// replies, but not confirmations of subscriptions.
func TestClientReply(t *testing.T) {
	n := startNode(t, Options{})
	lines := strings.Split(strings.TrimSpace(clientReplies), "\n")[2:]
	if len(lines) < 100 {
		t.Fatalf("%d lines", len(lines))
	}
	for i := 0; i < len(lines); i += 2 {
		want, err := strconv.Unquote(lines[i+1])
		if err != nil {
			t.Fatal(err)
		}
		c := n.Dial()
		c.Send(strings.ReplaceAll(lines[i], "\t", "\r\n") + "\r\nCLIENT REPLY ON\r\nPING end\r\nQUIT\r\n")
		all, err := io.ReadAll(c.R)
		if err != nil {
			t.Fatal(err)
		}
		want = strings.TrimSuffix(want, "<timeout>") // no further reply comes
		got := strings.TrimSuffix(string(all), "+OK\r\n")
		if got = connectionNumber.ReplaceAllString(got, "${1}N"); got != want {
			t.Errorf("%s:\n%q, want\n%q", lines[i], got, want)
		}
	}
}
