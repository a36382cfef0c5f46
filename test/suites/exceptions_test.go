package suites

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const exampleExceptions = `
# a comment
both     | a *    | it needs a printer
fiveways | b      | newer
rabbitmq | c      | a bug of 3.10
may      | d      | timing
skip     | e      | it needs another port
`

const exampleJUnit = `<testsuites><testsuite name="s"><testcase classname="a" name="1"><failure message="no printer"/></testcase>
<testcase classname="a" name="3"><failure/><system-out>no ink</system-out></testcase>
<testcase classname="a" name="2"><skipped/></testcase><testcase name="x" classname="test"/>
<testsuite name="t"><testcase name="y" classname="test"><error>boom</error></testcase></testsuite></testsuite></testsuites>`

const exampleGo = `{"Action":"output","Test":"TestA","Output":"bad\n"}
{"Action":"fail","Test":"TestA/sub"}
{"Action":"fail","Test":"TestA"}
{"Action":"pass","Test":"TestB"}
{"Action":"skip","Test":"TestC"}
{"Action":"output","Output":"goleak: one left\n"}
{"Action":"fail"}`

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, []byte(text), 0o644))
	return file
}

func TestReadReport(t *testing.T) {
	for text, want := range map[string]map[string]outcome{
		exampleJUnit: {"a 1": failed, "a 2": skipped, "a 3": failed, "s > x": passed, "s > t > y": failed},
		exampleGo:    {"TestA": failed, "TestB": passed, "TestC": skipped, wholeRun: failed},
	} {
		got, err := readReport(write(t, text))
		if err != nil || len(got) != len(want) {
			t.Errorf("%v %v", got, err)
		}
		for name, o := range want {
			if got[name].outcome != o {
				t.Errorf("%s: %q", name, got[name])
			}
		}
	}
}

func TestReasonOfFailure(t *testing.T) {
	got, err := readReport(write(t, exampleJUnit))
	must(t, err)
	for name, why := range map[string]string{"a 1": "no printer", "a 3": "no ink", "s > t > y": "boom"} {
		if text := got[name].text; !strings.Contains(text, why) {
			t.Errorf("%s: %q, want %q", name, text, why)
		}
	}
}

func TestVerdict(t *testing.T) {
	exceptions, err := readExceptions(write(t, exampleExceptions))
	must(t, err)
	good := map[string]result{"a 1": {outcome: failed}, "b": {outcome: failed}, "c": {outcome: passed}, "d": {outcome: passed}, "f": {outcome: passed}}
	if wrong := verdict(good, exceptions, failsOnFiveways); wrong != nil {
		t.Errorf("%q", wrong)
	}
	wrong := verdict(good, exceptions, failsOnRabbitMQ)
	if len(wrong) != 2 || !strings.HasPrefix(wrong[0], "b fails") || !strings.HasPrefix(wrong[1], "c passes") {
		t.Errorf("%q", wrong)
	}
	delete(good, "d")
	good["g"] = result{failed, "why"}
	wrong = verdict(good, exceptions, failsOnFiveways)
	if !slices.Equal(wrong, []string{"d is in exceptions.txt, but there is no such case", "g fails:\nwhy"}) {
		t.Errorf("%q", wrong)
	}
	if _, err := readExceptions(write(t, "odd | a | b")); err == nil {
		t.Error("an unknown kind is taken")
	}
}
