package conformance

import (
	"slices"
	"testing"
)

const sample = `-- a comment
-- session b as app
-- keep x
select 1,
  2;
--> a | b
--> 1 | 2
-- wait
select :x, 'a'::text;
-- close a
-- answer b
--> done
-- the end
`

func TestParseAndFormat(t *testing.T) {
	s, err := parse(sample)
	must(t, err)
	var answers [][]string
	for _, st := range s.steps {
		answers = append(answers, st.want)
	}
	if got := s.format(answers); got != sample {
		t.Errorf("written again:\n%s", got)
	}
	if len(s.steps) != 4 {
		t.Fatalf("%d steps", len(s.steps))
	}
	first, second := s.steps[0], s.steps[1]
	if first.sql != "select 1,\n  2;" || first.user != "app" || first.keep != "x" || !slices.Equal(first.want, []string{"a | b", "1 | 2"}) {
		t.Errorf("first step %+v", first)
	}
	if got := fill(second.sql, map[string]string{"x": "it's"}); !second.wait || got != "select 'it''s', 'a'::text;" {
		t.Errorf("second step %+v, filled %s", second, got)
	}
	if s.steps[2].session != "a" || s.steps[2].sql != "" || !s.steps[3].answer {
		t.Errorf("last steps %+v", s.steps[2:])
	}
	for _, bad := range []string{"--> answer to nothing", "select 1"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q was parsed", bad)
		}
	}
}

func TestMask(t *testing.T) {
	m := newMask()
	for _, tc := range []struct{ in, want string }{
		{"q.17 q.18 q.17 r.17", "q.<1> q.<2> q.<1> r.<1>"},
		{"temp.0123abcd.4 temp.0123abcd.5 temp.0123abcd.4", "temp.<1> temp.<2> temp.<1>"},
		{"1.5 q.given 2001-01-01 10:00:00", "1.5 q.given 2001-01-01 10:00:00"},
	} {
		if got := m.apply(tc.in); got != tc.want {
			t.Errorf("%q is masked as %q, want %q", tc.in, got, tc.want)
		}
	}
}
