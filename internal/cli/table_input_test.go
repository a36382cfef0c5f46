package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"

	"github.com/spf13/pflag"
)

// notForPeople matches what no error may show to a user: Erlang terms, Go values, names of Go's
// parsers and types, stacks, and JSON.
var notForPeople = regexp.MustCompile(`<<"|#\{|&\{|\{[A-Z][A-Za-z]*:|map\[|<nil>|%!|0xc0|goroutine |panic|runtime error|strconv\.|(?:^|[^.\w])json:|Go value|Go struct|interface \{\}|time: |\{"[a-z]|\(\*[a-z]+|SQLSTATE`)

// complaint returns what is wrong with how a command failed, or "" if nothing is.
func complaint(errs string, code int) string {
	lines := strings.Split(strings.TrimSuffix(errs, "\n"), "\n")
	switch {
	case code != exitcode.WrongUsage && code != exitcode.Failure:
		return "that is no exit code for it"
	case !strings.HasPrefix(errs, "fiveways: "):
		return "it does not begin with the program's name"
	case len(lines) > 2:
		return "it has more than a line and a way out"
	case len(lines[0]) > 600:
		return "it is long"
	case notForPeople.MatchString(errs):
		return "it is not for people"
	case strings.ContainsAny(errs, "\x1b\x00"):
		return "it speaks to the terminal"
	}
	return ""
}

// TestBadInputs checks that invalid input is rejected in one line of English, with the documented
// exit code.
func TestBadInputs(t *testing.T) {
	x := newTable(t)
	for _, r := range rows {
		x.prepare(r)
		for _, b := range r.bad {
			_, errs, code := x.run(r.command+" "+b.args, r.stdin)
			if code != b.code || !strings.Contains(errs, b.says) {
				t.Errorf("%s %s: exit code %d, %s; want %d and %q", r.command, b.args, code, errs, b.code, b.says)
			} else if c := complaint(errs, code); c != "" {
				t.Errorf("%s %s: %s: %s", r.command, b.args, c, errs)
			}
		}
	}
}

// odd are unusual arguments.
var odd = []string{"", "(", "{", "[1]", `{"a":[1]}`, "5", "no such", "-", "a/b", "..", strings.Repeat("x", 300), "\x1b[31m", "a\nb", "\xff", `<<"a">>`}

// oddValues are unusual values of flags, by type.
var oddValues = map[string][]string{
	"int": {"-1", "x", "99999999999999999999", ""}, "uint64": {"-1", "x"}, "float64": {"-1", "x", "NaN"}, "duration": {"-1s", "soon", ""},
	"intSlice": {"x", "-1"}, "form": {"xml"}, "bool": {"x"}, "string": odd, "stringArray": odd, "stringSlice": odd,
}

// keptFlags are not varied: they have their own tests, or make a command run for long.
var keptFlags = []string{"data", "config", "url", "ca", "cert", "key-file", "help", "wait", "duration"}

// plainInput returns an odd argument that an error may quote, or "" for one that it must not quote,
// or that occurs in any text.
func plainInput(text string) string {
	if len(text) < 2 || strings.ContainsAny(text, "\n\x1b") {
		return ""
	}
	return text
}

// TestOddInputs checks that a command with unusual input succeeds or says in English what is wrong.
func TestOddInputs(t *testing.T) {
	if testing.Short() {
		t.Skip("runs some thousand commands")
	}
	x := newTable(t)
	ran := 0
	try := func(r row, args []string, given string) {
		t.Helper()
		ran++
		out, errs, code := x.play(append(strings.Fields(r.command), args...), r.stdin)
		if code == exitcode.OK {
			return
		}
		if given != "" { // the user's own input may be quoted
			errs = strings.ReplaceAll(errs, given, "IT")
		}
		if c := complaint(errs, code); c != "" {
			t.Errorf("%s %q: exit code %d: %s: %s%s", r.command, args, code, c, out, errs)
		}
	}
	all := everyCommand()
	for _, r := range rows {
		if r.alone != "" || r.command == "demo" || strings.HasPrefix(r.command, "completion") {
			continue
		}
		x.prepare(r)
		args := x.words(r.args)
		if !strings.HasPrefix(r.command, "bench") { // these use other servers
			for i, arg := range args {
				if strings.HasPrefix(arg, "--") || i > 0 && strings.HasPrefix(args[i-1], "--") {
					continue
				}
				for _, o := range odd {
					varied := slices.Clone(args)
					varied[i] = o
					try(r, varied, plainInput(o))
				}
			}
		}
		all[r.command].Flags().VisitAll(func(f *pflag.Flag) {
			if slices.Contains(keptFlags, f.Name) || strings.HasPrefix(r.command, "bench") && strings.HasPrefix(f.Value.Type(), "string") {
				return
			}
			for _, o := range oddValues[f.Value.Type()] {
				try(r, append(slices.Clone(args), "--"+f.Name+"="+o), plainInput(o))
			}
		})
	}
	if ran < 1000 {
		t.Errorf("only %d commands ran", ran)
	}
}
