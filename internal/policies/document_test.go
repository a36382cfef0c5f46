package policies

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// page describes every setting.
const page = "../../docs/management/policies.md"

// row is a line of the tables of settings: `name`, values, what it does or why it does nothing, and
// what an operator policy has of it.
var row = regexp.MustCompile("^\\| `([a-z-]+)` \\|.*\\| *(smaller|operator|) \\|$")

// The tables of the page have each setting once, with what operators may say; those without effect
// are in the second one.
func TestSettingsAreDocumented(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Settings\n")
	section, _, ended := strings.Cut(section, "\n## ")
	effective, idle, divided := strings.Cut(section, "They have no effect here:")
	if !found || !ended || !divided {
		t.Fatal("the page has no section Settings with two tables")
	}
	documented := map[string]bool{}
	for _, table := range []struct {
		text string
		idle bool
	}{{effective, false}, {idle, true}} {
		for line := range strings.Lines(table.text) {
			m := row.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				continue
			}
			name, k := m[1], keys[m[1]]
			if documented[name] || k == nil {
				t.Errorf("the page has %s, which is no setting or is there twice", name)
				continue
			}
			documented[name] = true
			if idle := k.rule == nil && name != "alternate-exchange"; idle != table.idle { // exchanges are ruled without a rule for queues
				t.Errorf("%s has an effect: %v, but is in the other table", name, !idle)
			}
			if got := operatorHas(k); got != m[2] {
				t.Errorf("%s: the page says %q of operator policies, want %q", name, m[2], got)
			}
		}
	}
	for name := range keys {
		if !documented[name] {
			t.Errorf("the page lacks %s", name)
		}
	}
}

// operatorHas is what the page says of a setting in operator policies.
func operatorHas(k *key) string {
	switch {
	case k.merge == nil:
		return ""
	case k.merge(json.Number("1"), json.Number("2")) == json.Number("1"):
		return "smaller"
	}
	return "operator"
}
