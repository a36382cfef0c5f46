package cli

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways"
	"fiveways.dev/fiveways/internal/cli/exitcode"

	"github.com/rabbitmq/amqp091-go"
)

// fixture is a broker with the objects of the seeds, for the rows of the table.
type fixture struct {
	t    *testing.T
	vars map[string]string // values of {name} in arguments
	tmp  string            // folder for the files used as standard input
}

func newTable(t *testing.T) *fixture {
	t.Helper()
	dir := t.TempDir()
	b, err := fiveways.Start(fiveways.Options{
		Data: dir, AMQP: "127.0.0.1:0", SQL: "127.0.0.1:0", Redis: "127.0.0.1:0", Etcd: "127.0.0.1:0", HTTP: "127.0.0.1:0",
	})
	must(t, err)
	t.Cleanup(func() { b.Stop(context.Background()) }) //nolint:errcheck // no data to keep
	t.Chdir(t.TempDir())
	t.Setenv("FIVEWAYS_DATA", dir)
	x := &fixture{t, map[string]string{}, t.TempDir()}
	for name, text := range map[string]string{"words": `{"queues":[]}`, "list": "[]", "prose": "words"} {
		must(t, os.WriteFile(name, []byte(text), 0o600))
	}
	rest, err := fiveways.Start(fiveways.Options{Data: "rest", AMQP: "off"})
	must(t, err)
	must(t, rest.Stop(t.Context()))
	for _, line := range seeds {
		if _, errs, code := x.run(line, "secret\n"); code != exitcode.OK {
			t.Fatalf("%s: exit code %d, %s", line, code, errs)
		}
	}
	for _, name := range []string{"one", "two", "staging"} {
		x.consumer(b.AMQPURL(), name)
	}
	x.vars["message"] = x.firstID("alpha")
	return x
}

// consumer opens a connection with a consumer in one of the virtual hosts, and stores the
// connection's name.
func (x *fixture) consumer(url, name string) {
	x.t.Helper()
	vhost, queue := "/", map[string]string{"one": "alpha", "two": "beta", "staging": "gamma"}[name]
	if name == "staging" {
		vhost = name
	}
	c, err := amqp091.DialConfig(url, amqp091.Config{Vhost: vhost})
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { c.Close() }) //nolint:errcheck // the broker may be gone by then
	ch, err := c.Channel()
	if err != nil {
		x.t.Fatal(err)
	}
	if _, err := ch.Consume(queue, name, true, false, false, false, amqp091.Table{"x-priority": int32(-1), "x-selector": "n = 99"}); err != nil {
		x.t.Fatal(err)
	}
	x.vars[name] = c.LocalAddr().String() + " -> " + c.RemoteAddr().String()
}

// firstID returns the id of the first message of a queue.
func (x *fixture) firstID(queue string) string {
	x.t.Helper()
	out, errs, _ := x.run("message list "+queue+" -o json", "")
	var page struct {
		Messages []struct {
			ID string `json:"id"`
		} `json:"messages"`
	}
	if err := json.Unmarshal([]byte(out), &page); err != nil || len(page.Messages) == 0 {
		x.t.Fatalf("messages of %s: %v, %s%s", queue, err, out, errs)
	}
	return page.Messages[0].ID
}

// words returns the words of a line, with its variables replaced.
func (x *fixture) words(line string) []string {
	words := wordsIn(line)
	for i, w := range words {
		for name, value := range x.vars {
			w = strings.ReplaceAll(w, "{"+name+"}", value)
		}
		words[i] = w
	}
	return words
}

// run runs a line with stdin as its standard input.
func (x *fixture) run(line, stdin string) (stdout, stderr string, code int) {
	return x.play(x.words(line), stdin)
}

func (x *fixture) play(args []string, stdin string) (stdout, stderr string, code int) {
	x.t.Helper()
	file := filepath.Join(x.tmp, "stdin")
	if err := os.WriteFile(file, []byte(stdin), 0o600); err != nil {
		x.t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		x.t.Fatal(err)
	}
	was := os.Stdin
	os.Stdin = in
	defer func() {
		os.Stdin = was
		in.Close() //nolint:errcheck // it was read
	}()
	return command(x.t, args...)
}

// prepare creates what a row needs.
func (x *fixture) prepare(r row) {
	x.t.Helper()
	for line := range strings.SplitSeq(r.before, ";") {
		if line = strings.TrimSpace(line); line != "" {
			x.run(line, "secret\n") // what it creates may exist already
		}
	}
	if strings.Contains(r.args, "{task}") {
		out, errs, _ := x.run("queue redrive dead -o json", "")
		var task struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal([]byte(out), &task); err != nil {
			x.t.Fatalf("%v: %s%s", err, out, errs)
		}
		x.vars["task"] = task.ID
	}
	if strings.Contains(r.args, "{seen}") {
		x.vars["seen"] = x.firstID("seen")
	}
}

var heading = regexp.MustCompile(`^[A-Z][A-Z. ]*[A-Z]( {2,}|\n)|^MID `)

// reports are the commands that print tables mixed with sentences, only for people.
var reports = []string{"doctor", "demo"}

// TestEveryCommandSucceeds checks that each command does what its row says, and that each command
// that prints a table can print JSON too.
func TestEveryCommandSucceeds(t *testing.T) {
	x := newTable(t)
	all := everyCommand()
	for _, r := range rows {
		if r.alone != "" {
			continue
		}
		line := strings.TrimSpace(r.command + " " + r.args)
		x.prepare(r)
		out, errs, code := x.run(line, r.stdin)
		if code != exitcode.OK || errs != "" && !strings.HasPrefix(r.command, "bench") {
			t.Errorf("%s: exit code %d, %s%s", line, code, out, errs)
		}
		form := all[r.command].Flags().Lookup("output")
		if form == nil {
			if heading.MatchString(out) && !slices.Contains(reports, r.command) {
				t.Errorf("%s prints a table and has no -o json:\n%s", line, out)
			}
			continue
		}
		x.prepare(r)
		out, errs, code = x.run(line+" -o json", r.stdin)
		if code != exitcode.OK || !isJSON(out) {
			t.Errorf("%s -o json: exit code %d, %s%s", line, code, out, errs)
		}
		if _, errs, code := x.run(line+" -o xml", r.stdin); code != exitcode.WrongUsage || !strings.Contains(errs, "table or json") {
			t.Errorf("%s -o xml: exit code %d, %s", line, code, errs)
		}
	}
}

// isJSON reports whether text consists of JSON values only.
func isJSON(text string) bool {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		var v any
		if err := d.Decode(&v); err != nil {
			return err == io.EOF //nolint:errorlint // Decode returns it unwrapped
		}
	}
}

// TestFlagsOfLists checks that each flag of each list has the effect that its help describes.
func TestFlagsOfLists(t *testing.T) {
	x := newTable(t)
	for _, r := range rows {
		if r.list == nil {
			continue
		}
		x.prepare(r)
		l := *r.list
		show := func(flags string) string {
			t.Helper()
			out, errs, code := x.run(r.command+" "+r.args+" "+flags, "")
			if code != exitcode.OK {
				t.Errorf("%s %s: exit code %d, %s", r.command, flags, code, errs)
			}
			return out
		}
		pattern := regexp.MustCompile(`^\{(\w+)\}$`).ReplaceAllStringFunc(l.match, func(v string) string {
			return "'^" + regexp.QuoteMeta(x.vars[strings.Trim(v, "{}")]) + "'"
		})
		keep, drop, inStaging := strings.Join(x.words("'"+l.keep+"'"), ""), strings.Join(x.words("'"+l.drop+"'"), ""), strings.Join(x.words("'"+l.inStaging+"'"), "")
		if all := show(""); !strings.Contains(all, keep) || !strings.Contains(all, drop) {
			t.Errorf("%s shows neither %q nor %q:\n%s", r.command, keep, drop, all)
		}
		if some := show("--match " + pattern); !strings.Contains(some, keep) || strings.Contains(some, drop) {
			t.Errorf("%s --match %s:\n%s", r.command, pattern, some)
		}
		one := show("--columns " + l.sort)
		if heading, _, _ := strings.Cut(one, "\n"); !strings.EqualFold(strings.TrimSpace(heading), strings.NewReplacer("_", " ", "-", " ").Replace(l.sort)) {
			t.Errorf("%s --columns %s:\n%s", r.command, l.sort, one)
		}
		up, down := strings.Split(show("--columns "+l.sort+" --sort "+l.sort), "\n"), strings.Split(show("--columns "+l.sort+" --sort "+l.sort+" --reverse"), "\n")
		slices.Reverse(down[1 : len(down)-1])
		if !slices.Equal(up, down) || !slices.IsSorted(up[1:len(up)-1]) && l.sort != "id" {
			t.Errorf("%s --sort %s: %q, and in reverse %q", r.command, l.sort, up, down)
		}
		if l.inStaging == "" {
			continue
		}
		if all := show(""); !strings.Contains(all, inStaging) {
			t.Errorf("%s does not show %q:\n%s", r.command, inStaging, all)
		}
		if some := show("--vhost staging"); !strings.Contains(some, inStaging) || keep != "" && strings.Contains(some, keep) {
			t.Errorf("%s --vhost staging:\n%s", r.command, some)
		}
	}
}

// TestFilters checks the other flags that filter.
func TestFilters(t *testing.T) {
	x := newTable(t)
	for _, line := range []string{"job enqueue ten a --id one", "job enqueue ten b --id two"} {
		if _, errs, code := x.run(line, ""); code != exitcode.OK {
			t.Fatal(errs)
		}
	}
	for _, r := range rows {
		for _, f := range r.filters {
			x.prepare(r)
			out, errs, code := x.run(r.command+" "+f.args, r.stdin)
			words := strings.Fields(out)
			has := func(word string) bool {
				return slices.ContainsFunc(words, func(w string) bool { return strings.Trim(w, `",`) == word })
			}
			if code != exitcode.OK {
				t.Errorf("%s %s: exit code %d, %s", r.command, f.args, code, errs)
			}
			for _, word := range strings.Fields(f.has) {
				if !has(word) {
					t.Errorf("%s %s does not show %q:\n%s", r.command, f.args, word, out)
				}
			}
			for _, word := range strings.Fields(f.lacks) {
				if has(word) {
					t.Errorf("%s %s shows %q:\n%s", r.command, f.args, word, out)
				}
			}
		}
	}
}

// TestMoveFilters checks that a task moves only the messages that match its filter, and no more
// than its limit.
func TestMoveFilters(t *testing.T) {
	x := newTable(t)
	for _, line := range []string{"queue add from", "queue add to", "message publish from a --header n=1", "message publish from b --header n=2", "message publish from c --header n=2"} {
		if _, errs, code := x.run(line, ""); code != exitcode.OK {
			t.Fatal(errs)
		}
	}
	if _, errs, code := x.run("message move from to --filter 'n = 2' --limit 1", ""); code != exitcode.OK {
		t.Fatal(errs)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		out, _, _ := x.run("task list from --columns state", "")
		if !strings.Contains(out, "running") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the task does not end: %s", out)
		}
	}
	if out, _, _ := x.run("message list to", ""); !strings.Contains(out, " b") || strings.Contains(out, " a\n") || strings.Contains(out, " c\n") {
		t.Errorf("moved:\n%s", out)
	}
}
