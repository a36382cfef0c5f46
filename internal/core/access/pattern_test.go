package access

import (
	"errors"
	"testing"
)

func TestPatternsAreSearched(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{".*", "q", true}, {".*", "", true}, {".*", "with\nline", true},
		{"", "q", false}, {"", "", true},
		{"^$", "q", false},
		{"order", "my-orders", true}, // not anchored
		{"^order", "my-orders", false}, {"^order", "orders", true},
		{"^(a|b)-", "b-1", true}, {"^(a|b)-", "c-1", false},
		{"amq.default", "amq.default", true},
		{"^é$", "é", true}, {"^.$", "\xff", true},
		{"(?i)^Q", "q1", true},
		{`^(?!amq\.)`, "orders", true}, {`^(?!amq\.)`, "amq.gen-1", false},
	} {
		p, err := Compile(c.pattern)
		if err != nil {
			t.Fatalf("%q: %v", c.pattern, err)
		}
		if got := p.Match(c.name); got != c.want || p.MatchBytes([]byte(c.name)) != c.want {
			t.Errorf("%q in %q: %v, want %v", c.pattern, c.name, got, c.want)
		}
	}
	if new(Pattern).Match("") {
		t.Error("the zero pattern matches")
	}
}

func TestPatternsThatDoNotCompile(t *testing.T) {
	for _, source := range []string{"(", "[z-a]", "(?=ahead", "*"} {
		if _, err := Compile(source); !errors.Is(err, ErrPattern) {
			t.Errorf("%q: %v", source, err)
		}
		if err := CheckTemplate(source); !errors.Is(err, ErrPattern) {
			t.Errorf("template %q: %v", source, err)
		}
	}
	if err := CheckTemplate("^{vhost}/{username}/{client_id}$"); err != nil {
		t.Error(err)
	}
}

func TestTopicTemplates(t *testing.T) {
	v := Variables{Username: "al.ice", VHost: "/", ClientID: "c+1"}
	for _, c := range []struct {
		template, key string
		v             Variables
		want          bool
	}{
		{"^{username}\\.", "al.ice.x", v, true},
		{"^{username}\\.", "alxice.x", v, false}, // a name is not interpreted as a pattern
		{"^{vhost}-{client_id}$", "/-c+1", v, true},
		{"^{vhost}-{client_id}$", "/-cc1", v, false},
		{"^{client_id}$", "{client_id}", Variables{Username: "u", VHost: "v"}, true}, // no value to insert
		{"", "k", v, false}, {".*", "k", v, true},
		{"^[{username}]$", "x", Variables{Username: "z-a"}, false},
	} {
		if got := Expand(c.template, c.v).Match(c.key); got != c.want {
			t.Errorf("%q with %+v on %q: %v", c.template, c.v, c.key, got)
		}
	}
}
