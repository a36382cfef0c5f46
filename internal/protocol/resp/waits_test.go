package resp

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

// TestKeyBecomesAnother checks that a client blocked on a key whose type changes keeps waiting, as
// in Redis 7.0, which gave these answers. Readers of a group get an error.
func TestKeyBecomesAnother(t *testing.T) {
	const (
		group = "XGROUP CREATE k g $ MKSTREAM"
		entry = `[["k" [["9-9" ["f" "z"]]]]]`
		gone  = "-UNBLOCKED the stream key no longer exists"
	)
	for name, c := range map[string]struct{ before, wait, does, then, want string }{
		"XREAD and a list":                 {"", "XREAD BLOCK 0 STREAMS k $", "LPUSH k a", "DEL k;XADD k 9-9 f z", entry},
		"XREAD, a list that was emptied":   {"", "XREAD BLOCK 0 STREAMS k 0", "LPUSH k a;LPOP k", "XADD k 9-9 f z", entry},
		"XREAD of a stream that becomes":   {"XADD k 1-1 f v", "XREAD BLOCK 0 STREAMS k $", "MULTI;DEL k;LPUSH k a;EXEC", "DEL k;XADD k 9-9 f z", entry},
		"XREAD of two":                     {"", "XREAD BLOCK 0 STREAMS s k $ $", "LPUSH s a;LPUSH k a", "DEL k;XADD k 9-9 f z", entry},
		"XREADGROUP, a list in its place":  {group, "XREADGROUP GROUP g c BLOCK 0 STREAMS k >", "", "MULTI;DEL k;LPUSH k a;EXEC", gone},
		"XREADGROUP, nothing in its place": {group, "XREADGROUP GROUP g c BLOCK 0 STREAMS k >", "", "DEL k", gone},
		"XREADGROUP without its group": {group, "XREADGROUP GROUP g c BLOCK 0 STREAMS k >", "", "XGROUP DESTROY k g",
			"-NOGROUP the consumer group this client was blocked on no longer exists"},
		"BLPOP and a stream":     {"", "BLPOP k 0", "XADD k 1-1 f v", "DEL k;LPUSH k a", `["k" "a"]`},
		"BLPOP of two":           {"", "BLPOP k l 0", "XADD k 1-1 f v", "LPUSH l b", `["l" "b"]`},
		"BLMOVE and a stream":    {"", "BLMOVE k d LEFT RIGHT 0", "XADD k 1-1 f v", "DEL k;RPUSH k a", `"a"`},
		"a stream, made at once": {"", "BLPOP k 0", "MULTI;LPUSH k x;DEL k;XADD k 1-1 f v;EXEC", "DEL k;LPUSH k a", `["k" "a"]`},
	} {
		t.Run(name, func(t *testing.T) {
			n := startNode(t, Options{})
			w, o := n.Dial(), n.Dial()
			all := func(commands string) {
				for command := range strings.SplitSeq(commands, ";") {
					if command != "" {
						if got := o.Do(strings.Fields(command)...); strings.HasPrefix(got, "-") {
							t.Fatalf("%s: %s", command, got)
						}
					}
				}
			}
			all(c.before)
			w.Send(resptest.Encode(strings.Fields(c.wait)...))
			n.UntilBlocked(o, 1)
			all(c.does)
			n.UntilBlocked(o, 1)
			all(c.then)
			if got := w.Reply(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
