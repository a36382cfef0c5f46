package resp

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

// BenchmarkPipeline measures the cost of a pipelined command: its share of reading, of one Do, and
// of writing.
func BenchmarkPipeline(b *testing.B) {
	for _, tc := range []struct {
		name     string
		requests []string
		replies  string // the replies, one for each request
	}{
		{"ping", []string{resptest.Encode("PING")}, "+PONG\r\n"},
		{"lpush-rpop", []string{resptest.Encode("LPUSH", "q", "xxxxxxxx"), resptest.Encode("RPOP", "q")}, ":1\r\n$8\r\nxxxxxxxx\r\n"},
	} {
		for _, depth := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", tc.name, depth), func(b *testing.B) {
				c := startNode(b, Options{}).Dial()
				c.Conn.SetDeadline(time.Time{}) //nolint:errcheck // it may take longer than a test
				times := max(1, depth/len(tc.requests))
				sent := strings.Repeat(strings.Join(tc.requests, ""), times)
				got := make([]byte, len(tc.replies)*times)
				b.ReportAllocs()
				for n := 0; n < b.N; n += times * len(tc.requests) {
					c.Send(sent)
					if _, err := io.ReadFull(c.R, got); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
