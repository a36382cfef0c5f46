package mbus

import (
	"errors"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// TestSelectorErrors: an error in a selector includes the selector, and has no position in the
// statement that contained it.
func TestSelectorErrors(t *testing.T) {
	for _, text := range []string{"x =", "t.nothing = 1", "foo(t.data)", "1 / 'a'", "1; select 2"} {
		_, err := compileCondition(text)
		var e *pgerror.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if e.Position != 0 || e.Detail != "Selector: "+text {
			t.Errorf("%s: position %d, detail %q", text, e.Position, e.Detail)
		}
	}
}
