package parse

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

func TestSyntaxError(t *testing.T) {
	for text, want := range map[string]pgerror.Error{
		"select 1 frm x y":      {Message: `syntax error at or near "x"`, Position: 14},
		"select 'é' from from":  {Message: `syntax error at or near "from"`, Position: 17},
		"select":                {},
		"select 'unterminated":  {Message: `unterminated quoted string at or near "'unterminated"`, Position: 8},
		"select (1":             {Message: "syntax error at end of input", Position: 10},
		"insert into t values(": {Message: "syntax error at end of input", Position: 22},
	} {
		_, err := Parse(text)
		var e *pgerror.Error
		switch {
		case want.Message == "" && err == nil:
		case !errors.As(err, &e) || e.Code != pgerror.SyntaxError || e.Message != want.Message || e.Position != want.Position:
			t.Errorf("%s: %+v, want %+v", text, err, want)
		}
	}
}

// TestLongTextsHoldUpNone: while a long text is parsed, short ones are, too.
func TestLongTextsHoldUpNone(t *testing.T) {
	long := "select '" + strings.Repeat("x", maxQuickText) + "'"
	quick.mu.Lock()
	_, err := Parse(long)
	quick.mu.Unlock()
	if err != nil {
		t.Error(err)
	}
	slow.mu.Lock()
	defer slow.mu.Unlock()
	if _, err := Parse("select 'short'"); err != nil {
		t.Error(err)
	}
}

func TestCache(t *testing.T) {
	a, err := Parse("select 'cached'")
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := Parse("select 'cached'"); a != b {
		t.Error("the same text was parsed twice")
	}
	c := newCache(10 * cost("text 1"))
	for i := range 12 {
		c.put(fmt.Sprintf("text %d", i%10), a)
		c.get("text 0")
	}
	c.put("text a", a)
	c.put("text b", a)
	if c.get("text 0") == nil {
		t.Error("what was used last is gone")
	}
	if c.get("text 1") != nil || c.get("text 2") != nil {
		t.Error("what was used first is still there")
	}
	if len(c.byText) != 10 || c.order.Len() != 10 || c.bytes != c.limit {
		t.Errorf("%d texts, %d in order, %d bytes of %d", len(c.byText), c.order.Len(), c.bytes, c.limit)
	}
	if c.put(strings.Repeat("x", maxKeptText+1), a); len(c.byText) != 10 {
		t.Error("a long text was kept")
	}
}
