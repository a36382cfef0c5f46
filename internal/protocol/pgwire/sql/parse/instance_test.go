package parse

import (
	"strings"
	"testing"
)

// An instance that has grown large is dropped; the next text creates another.
func TestLargeInstanceIsDropped(t *testing.T) {
	var i instance
	if _, err := i.parse("select 1"); err != nil || i.p == nil {
		t.Fatal(err)
	}
	if _, err := i.parse("select '" + strings.Repeat("x", maxInstanceBytes) + "'"); err != nil || i.p != nil {
		t.Errorf("%v, kept %v", err, i.p != nil)
	}
	if _, err := i.parse("select 1"); err != nil || i.p == nil {
		t.Error(err)
	}
}
