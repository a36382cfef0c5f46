package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"fiveways.dev/fiveways/internal/cli/exitcode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestHelp checks that every command and group has a description in one line and examples.
func TestHelp(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			walk(below)
		}
		_, path, _ := strings.Cut(cmd.CommandPath(), " ")
		out, errs, code := command(t, append(strings.Fields(path), "--help")...)
		first, _, _ := strings.Cut(out, "\n")
		if code != exitcode.OK || errs != "" || first == "" || strings.HasPrefix(first, "Usage") || !strings.Contains(out, "\nUsage:\n") {
			t.Errorf("%s --help: exit code %d, %q, %s", cmd.CommandPath(), code, first, errs)
		}
		if short := []rune(cmd.Short); len(short) == 0 || unicode.IsUpper(short[0]) || strings.HasSuffix(cmd.Short, ".") || strings.Contains(cmd.Short, "\n") {
			t.Errorf("%s is described as %q; it takes a line such as: list the queues", cmd.CommandPath(), cmd.Short)
		}
		_, examples, _ := strings.Cut(out, "\nExamples:\n")
		if own, _, _ := strings.Cut(examples, "\n\n"); !strings.Contains(own, cmd.CommandPath()) {
			t.Errorf("%s has no example of its own in --help: %q", cmd.CommandPath(), own)
		}
		if !cmd.HasAvailableSubCommands() && cmd.Args == nil && cmd.Name() != "help" {
			t.Errorf("%s does not say how many arguments it takes", cmd.CommandPath())
		}
	}
	walk(commands(io.Discard, io.Discard))
}

// TestUnknownIsRefused checks that every command rejects unknown flags and words.
func TestUnknownIsRefused(t *testing.T) {
	for name, cmd := range everyCommand() {
		lines := map[string]string{"--none": "unknown flag: --none", "-%": "unknown shorthand flag"}
		if cmd.Args != nil && cmd.Args(cmd, make([]string, 40)) != nil {
			lines[strings.Repeat("x ", 40)] = "`fiveways " + name + "` takes "
		}
		for line, says := range lines {
			out, errs, code := command(t, append(strings.Fields(name), strings.Fields(line)...)...)
			if code != exitcode.WrongUsage || out != "" || !strings.Contains(errs, says) || !strings.Contains(errs, "Run `fiveways "+name+" --help`") {
				t.Errorf("%s %s: exit code %d, %s%s", name, line, code, out, errs)
			}
		}
	}
	var groups func(cmd *cobra.Command)
	groups = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			groups(below)
		}
		if _, path, _ := strings.Cut(cmd.CommandPath(), " "); cmd.HasSubCommands() {
			if _, errs, code := command(t, append(strings.Fields(path), "nosuch")...); code != exitcode.WrongUsage || !strings.Contains(errs, "nosuch") {
				t.Errorf("%s nosuch: exit code %d, %s", cmd.CommandPath(), code, errs)
			}
		}
	}
	groups(commands(io.Discard, io.Discard))
}

// filtering matches the beginning of the help of a flag that filters, orders or limits what is
// shown or done.
var filtering = regexp.MustCompile(`^(only|maximum( number| messages per second)?|sort by|members to show|reverse the order|position of the first|messages scheduled in|all semaphores whose|all connections of)\b`)

// conditional matches the beginning of the help of a flag that filters nothing, although it says
// "only".
var conditional = regexp.MustCompile(`^(only (when|if|bindings|tell)|maximum (size|length|age))\b`)

// listFlags are the flags of every list of the API, which TestFlagsOfLists tests.
var listFlags = []string{"match", "sort", "reverse", "columns", "vhost"}

// TestFiltersAreProved checks that each flag that filters is tested by the row of its command, or
// by a test that the row names.
func TestFiltersAreProved(t *testing.T) {
	all, played := everyCommand(), 0
	for _, r := range rows {
		cmd := all[r.command]
		if cmd == nil {
			continue // another test checks this
		}
		proofs := map[string]string{}
		for _, p := range strings.Fields(r.proved) {
			flag, test, _ := strings.Cut(p, ":")
			proofs[flag] = test
			if cmd.Flags().Lookup(flag) == nil {
				t.Errorf("%s has no flag --%s", r.command, flag)
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !filtering.MatchString(f.Usage) || conditional.MatchString(f.Usage) {
				return
			}
			played++
			inFilters := slices.ContainsFunc(r.filters, func(c filter) bool { return strings.Contains(c.args, "--"+f.Name) })
			if test := proofs[f.Name]; !inFilters && !(r.list != nil && slices.Contains(listFlags, f.Name)) && !exists(t, test) {
				t.Errorf("%s --%s (%s): no filter of its row plays it, nor test %q", r.command, f.Name, f.Usage, test)
			}
		})
	}
	if played < 50 {
		t.Errorf("only %d flags filter", played)
	}
}

// exists reports whether there is a test of that name in this package, or a folder of tests.
func exists(t *testing.T, test string) bool {
	t.Helper()
	if strings.HasPrefix(test, "test/") {
		info, err := os.Stat(filepath.Join("../..", test))
		return err == nil && info.IsDir()
	}
	files, err := filepath.Glob("*_test.go")
	must(t, err)
	return test != "" && slices.ContainsFunc(files, func(name string) bool {
		text, err := os.ReadFile(name)
		return err == nil && strings.Contains(string(text), "\nfunc "+test+"(t *testing.T)")
	})
}
