package duel

import (
	"bufio"
	"strings"
	"testing"
)

func TestReplies(t *testing.T) {
	for _, row := range []struct{ raw, want string }{
		{"+OK\r\n", "+OK"},
		{"-ERR no\r\n", "-ERR no"},
		{"$3\r\na\"\n\r\n", `$"a\"\n"`},
		{"$-1\r\n", "$-1"},
		{"*-1\r\n", "*-1"},
		{"_\r\n", "_"},
		{"*0\r\n", "*[]"},
		{"*2\r\n:1\r\n*1\r\n$0\r\n\r\n", `*[:1 *[$""]]`},
		{"%1\r\n+a\r\n,1.5\r\n", "%[+a ,1.5]"},
		{"~2\r\n+b\r\n+a\r\n", "~[+a +b]"},
		{">1\r\n=5\r\ntxt:a\r\n", `>[="txt:a"]`},
	} {
		r := bufio.NewReader(strings.NewReader(row.raw + "+next\r\n"))
		if got, err := readReply(r); err != nil || got != row.want {
			t.Errorf("%q: %s %v", row.raw, got, err)
		}
		if next, err := readReply(r); next != "+next" {
			t.Errorf("behind %q: %s %v", row.raw, next, err)
		}
	}
	if a, b := inOrder(`*[$"b" $"a c"]`), inOrder(`*[$"a c" $"b"]`); a != b {
		t.Errorf("%s and %s", a, b)
	}
	for _, other := range []string{`*[$"b"]`, `*[$"b" $"b"]`, `~[$"b" $"a c"]`, `*[$"b" +"a c"]`} {
		if inOrder(other) == inOrder(`*[$"b" $"a c"]`) {
			t.Error(other)
		}
	}
}
