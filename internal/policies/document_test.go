package policies

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// page documents every setting.
const page = "../../docs/management/policies.md"

// row matches a line of the tables of settings: `name`, values, its effect or why it has none, and
// its use in operator policies.
var row = regexp.MustCompile("^\\| `([a-z-]+)` \\|.*\\| *(smaller|operator|) \\|$")

// The tables of the page contain each setting once, with its use in operator policies. Settings
// without effect are in the second table.
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
			if idle := k.rule == nil && name != "alternate-exchange"; idle != table.idle { // it is for exchanges
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

// operatorHas returns what the page says about a setting in operator policies.
func operatorHas(k *key) string {
	switch {
	case k.merge == nil:
		return ""
	case k.merge(json.Number("1"), json.Number("2")) == json.Number("1"):
		return "smaller"
	}
	return "operator"
}
