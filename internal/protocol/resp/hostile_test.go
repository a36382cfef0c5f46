package resp

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

// hostile holds values that a client may send for any argument.
var hostile = []string{
	"", "\r\n+PWNED\r\n", "-1", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e400", "nan", "\x00", "'", "%s%d", "[[[", "a-b",
	strings.Repeat("n", 300), strings.Repeat("*", 40) + "x", strings.Repeat("(", 200),
}

// TestHostileArguments checks that every request with hostile arguments gets exactly one answer,
// that the answer contains them only as text, and that the connection stays open.
func TestHostileArguments(t *testing.T) {
	for _, begin := range []string{"HELLO 2", "HELLO 3", "MULTI"} {
		t.Run(begin, func(t *testing.T) {
			n := startNode(t, Options{})
			for name, rows := range rights {
				d := byFullName(name)
				if name == "quit" || name == "client|reply" || name == "reset" || name == "auth" || name == "hello" || d.Flags&command.Subscribed != 0 && name != "ping" {
					continue
				}
				c := n.Dial()
				for _, row := range rows {
					n.fill("q", row.kind)
					words := append(strings.Split(name, "|"), strings.Fields(strings.ReplaceAll(row.args, "Q", "q"))...)
					for i := 1; i <= len(words); i++ {
						for _, value := range hostile {
							if i < len(words) && d.Flags&command.Blocking != 0 && value == "9223372036854775807" {
								continue // it would wait for too long
							}
							bad := append([]string{}, words...)
							if i < len(words) {
								bad[i] = value
							} else {
								bad = append(bad, value)
							}
							n.oneAnswer(c, begin, bad)
						}
					}
				}
				c.Conn.Close()
			}
			if text := n.Log.String(); strings.Contains(text, "panic") {
				t.Error(text)
			}
		})
	}
}

// oneAnswer checks that a request has exactly one answer.
func (n *node) oneAnswer(c *resptest.Client, begin string, words []string) {
	n.T.Helper()
	want := []string{"begin", "answer", "end"}
	sent := resptest.Encode(strings.Fields(begin)...) + resptest.Encode(words...)
	if begin == "MULTI" {
		want, sent = []string{"begin", "answer", "exec", "end"}, sent+resptest.Encode("EXEC")
	}
	c.Send(sent + resptest.Encode("ECHO", "end"))
	for _, what := range want {
		got, err := c.Read()
		if err != nil || strings.HasPrefix(got, "+PWNED") || strings.Contains(got, "internal error") ||
			(got == `"end"`) != (what == "end") {
			n.T.Fatalf("%.300q: the %s is %.300s, %v", words, what, got, err)
		}
	}
}
