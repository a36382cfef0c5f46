package management

import (
	"bytes"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/daemon"
	"fiveways.dev/fiveways/test/rabbitmq"
)

var record = flag.Bool("record", false, "play the scripts to an installed RabbitMQ 3.10 and write its answers down")

var only = flag.String("only", "*", "which scripts")

func TestMain(m *testing.M) { brokertest.Main(m) }

// scripts returns the files of testdata.
func scripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/" + *only + ".txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	return files
}

func TestScripts(t *testing.T) {
	if *record {
		recordAll(t)
		return
	}
	expected, err := readExpected("expected_differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	b := brokertest.Run(t, "--http", "127.0.0.1:0", "--amqp-product", "RabbitMQ", "--stats-interval", "1s", "--node-name", "fiveways@localhost")
	p := newPlayer(b.HTTPAddr(), b.Addr(), "fiveways@localhost", t.TempDir())
	for _, file := range scripts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { p.compare(t, file, expected) })
	}
	if !t.Failed() && *only == "*" && flag.Lookup("test.run").Value.String() == "" {
		for _, k := range expected {
			if !k.used && !k.sometimes {
				t.Errorf("expected_differences.txt has `%s`, which no answer shows", k.line)
			}
		}
	}
}

func (p *player) compare(t *testing.T, file string, expected []*expectedDifference) {
	if err := p.reset(); err != nil {
		t.Fatal(err)
	}
	steps, err := readScript(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		want, err := readAnswer(s.answer)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.play(s)
		if errors.Is(err, rabbitmq.ErrNoAdmin) && os.Getenv("CI") != "true" {
			t.Skip(err)
		}
		if err != nil {
			t.Errorf("%s\n%v", s.line, err)
			continue
		}
		found := unexpected(s.line, expected, compared(want, got))
		if len(found) > 0 {
			t.Errorf("%s\n\t%s", s.line, strings.Join(found, "\n\t"))
		}
	}
}

// compared returns how got differs from want. Where RabbitMQ fails with an internal error, any
// refusal is accepted. Where it refuses without a reason, Fiveways may give one.
func compared(want, got answer) []string {
	refused := got.status >= http.StatusBadRequest && got.status < http.StatusInternalServerError
	if want.status == http.StatusInternalServerError && refused {
		return nil
	}
	var out []string
	if want.status != got.status {
		out = append(out, differences("status", float64(want.status), float64(got.status))...)
	}
	if want.empty && refused {
		return out
	}
	return append(out, differences("", want.body, got.body)...)
}

func recordAll(t *testing.T) {
	node := daemon.ForTest(t, func() (*rabbitmq.Node, error) {
		return rabbitmq.Serve(rabbitmq.Options{
			Plugins:  []string{"rabbitmq_federation", "rabbitmq_consistent_hash_exchange", "rabbitmq_random_exchange", "rabbitmq_recent_history_exchange"},
			Settings: []string{"collect_statistics_interval = 1000"},
		})
	}, rabbitmq.ErrNone)
	p := newPlayer(node.HTTPAddr, node.AMQPAddr, node.Name(), t.TempDir())
	for _, file := range scripts(t) {
		if err := p.reset(); err != nil {
			t.Fatal(err)
		}
		steps, err := readScript(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range steps {
			a, err := p.play(steps[i])
			if err != nil {
				t.Errorf("%s: %s: %v", file, steps[i].line, err)
				continue
			}
			steps[i].answer = a.text()
		}
		if err := writeScript(file, steps); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReading checks that scripts, answers and differences are read as they were written.
func TestReading(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script")
	long := strings.Repeat("x", 200)
	steps := []step{
		{comments: []string{"# why"}, line: "guest GET /api/x", answer: answer{status: 200, body: map[string]any{"b": []any{1.0, nil}, "a": long}}.text()},
		{until: "b", line: "- PUT /api/y {}", answer: answer{status: 204, empty: true}.text()},
	}
	if err := writeScript(file, steps); err != nil {
		t.Fatal(err)
	}
	read, err := readScript(file)
	if err != nil || len(read) != 2 || read[0].answer != steps[0].answer || read[0].comments[0] != "# why" || read[1].until != "b" || read[1].answer != "204" {
		t.Fatalf("%q %v", read, err)
	}
	a, err := readAnswer(read[0].answer)
	if err != nil || a.status != 200 || a.body.(map[string]any)["a"] != long {
		t.Errorf("%v %v", a, err)
	}
}

func TestDifferences(t *testing.T) {
	for _, c := range []struct{ want, got, found string }{
		{`{"a":1}`, `{"a":1}`, ""},
		{`{"a":1}`, `{"a":2}`, "a: want 1, not 2"},
		{`{"a":1}`, `{"a":"1"}`, `a: want 1, not "1"`},
		{`{"rate":1}`, `{"rate":2.5}`, ""},
		{`{"rate":1}`, `{"rate":null}`, `rate: want "number", not "null"`},
		{`{"a":{"b":1}}`, `{"a":{"c":1}}`, "a.b: less: 1;a.c: more: 1"},
		{`[{"name":"b"},{"name":"a"}]`, `[{"name":"a"},{"name":"b"}]`, ""},
		{`[{"name":"b"}]`, `[{"name":"c"}]`, `[].name: want "b", not "c"`},
		{`[]`, `[1]`, "[]: want 0 elements, not 1: [1]"},
		{`no JSON`, `nor this`, `: want "no JSON", not "nor this"`},
	} {
		found := differences("", shape([]byte(c.want), false), shape([]byte(c.got), false))
		if strings.Join(found, ";") != c.found {
			t.Errorf("%s and %s: %q, want %q", c.want, c.got, found, c.found)
		}
	}
	if bytes.Equal([]byte(answer{status: 200}.text()), []byte("200")) {
		t.Error("null is taken for nothing")
	}
}
