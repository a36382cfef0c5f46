package tutorials

import "testing"

func TestSteps(t *testing.T) {
	const text = "# A page\n```python\n# a.py\nprint(1)\n```\n```sh\nserve\n```\n```console\n$ one \\\n> more\nout\n> not typed\n$ two\n^C\n```\nend\n"
	got := steps(text)
	if len(got) != 3 {
		t.Fatalf("%d steps, want the file and two commands", len(got))
	}
	if f := got[0]; f.file != "a.py" || f.content != "# a.py\nprint(1)\n" {
		t.Errorf("the file is %+v", f)
	}
	if c := got[1]; c.command != "one \\\nmore\n" || c.output != "out\n> not typed\n" || text[c.at:c.at+3] != "out" {
		t.Errorf("the first command is %+v", c)
	}
	if c := got[2]; c.command != "two\n" || c.output != "" || !c.interrupted {
		t.Errorf("the second command is %+v", c)
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{{"a.c\n", "a.c\n", true}, {"a.c\n", "abc\n", false}, {"at … o'clock\n", "at 5 o'clock\n", true}, {"…\n", "two\nlines\n", false}, {"", "more\n", false}} {
		if got := matches(c.pattern, c.text); got != c.want {
			t.Errorf("%q shows %q: %v", c.pattern, c.text, got)
		}
	}
}
