package metrics

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/httpapi/resttest"
)

var write = flag.Bool("write", false, "write the tables of docs/management/metrics.md anew")

// told is a metric in an exposition.
type told struct{ name, kind, help, labels string }

// metricsOf returns the metrics of an exposition by name, each with the labels of one of its rows.
func metricsOf(text string) map[string]*told {
	all := map[string]*told{}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ := strings.Cut(strings.TrimSpace(rest), " ")
			all[name] = &told{name: name, help: help, labels: "–"}
		} else if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(strings.TrimSpace(rest), " ")
			all[name].kind = kind
		} else if name, labels, ok := strings.Cut(line, "{"); ok && all[name] != nil {
			all[name].labels = namesOf(labels)
		}
	}
	return all
}

var labelName = regexp.MustCompile(`(\w+)="(?:[^"\\]|\\.)*"`)

func namesOf(labels string) string {
	var names []string
	for _, m := range labelName.FindAllStringSubmatch(labels, -1) {
		names = append(names, m[1])
	}
	return strings.Join(names, ", ")
}

// unit returns the unit of a metric according to its name.
func unit(name string) string {
	name = strings.TrimSuffix(name, "_total")
	switch {
	case strings.HasSuffix(name, "_info"):
		return "always 1"
	case strings.HasSuffix(name, "timestamp_seconds"), strings.HasSuffix(name, "time_seconds") && strings.HasPrefix(name, "process_"), strings.HasSuffix(name, "head_message_timestamp"):
		return "seconds since 1970"
	case strings.HasSuffix(name, "_seconds"):
		return "seconds"
	case strings.HasSuffix(name, "_bytes"):
		return "bytes"
	}
	return "number"
}

// table returns the table of the metrics whose names begin with a prefix: all of /metrics, and
// those only in /metrics/per-object.
func table(sums, single map[string]*told, prefixes ...string) string {
	var b strings.Builder
	b.WriteString("| metric | type | unit | labels | one by one | meaning |\n|---|---|---|---|---|---|\n")
	all := maps.Clone(single)
	maps.Copy(all, sums)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		labels, each := "only one by one", "the same"
		if m := sums[name]; m != nil {
			labels = m.labels
		}
		if m := single[name]; m == nil {
			each = "not there"
		} else if m.labels != labels {
			each = m.labels
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", name, all[name].kind, unit(name), labels, each, all[name].help)
	}
	return b.String()
}

var familyName = regexp.MustCompile(`family=(\w+)`)

// familiesTable returns the table of the contents of each family of /metrics/detailed.
func familiesTable(t *testing.T, n *node) string {
	var b strings.Builder
	b.WriteString("| family | metrics |\n|---|---|\n")
	always := metricsOf(scrape(t, n, "/metrics/detailed"))
	for _, m := range familyName.FindAllStringSubmatch(everyFamily, -1) {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(metricsOf(scrape(t, n, "/metrics/detailed?family="+m[1])))) {
			if always[name] == nil {
				names = append(names, "`"+name+"`")
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", m[1], strings.Join(names, ", "))
	}
	return b.String()
}

const page = "../../../../docs/management/metrics.md"

// The documentation page lists every metric and no other, with type, unit, labels and meaning.
func TestPageOfMetrics(t *testing.T) {
	n := openNode(t, 1)
	resttest.Declare(t, n.s, "timed")
	publish(t, n.s, "timed", 1, message.Properties{Flags: message.HasTimestamp, Timestamp: 1_700_000_000})
	if err := n.s.Do(&jobs.Enqueue{OnQueue: broker.OnQueue{Queue: "q0"}, ID: []byte("job")}); err != nil {
		t.Fatal(err)
	}
	n.m.Sample()
	sums, single := metricsOf(scrape(t, n, "/metrics")), metricsOf(scrape(t, n, "/metrics/per-object"))
	tables := map[string]string{
		"theirs": table(sums, single, theirs, "process_"), "ours": table(sums, single, ours), "detailed": familiesTable(t, n),
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := text
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		begin, end := fmt.Appendf(nil, "<!-- %s -->\n", name), fmt.Appendf(nil, "<!-- end of %s -->", name)
		before, rest, ok := bytes.Cut(want, begin)
		_, after, ended := bytes.Cut(rest, end)
		if !ok || !ended {
			t.Fatalf("the page has no table %s", name)
		}
		want = slices.Concat(before, begin, []byte(tables[name]), end, after)
	}
	if bytes.Equal(text, want) {
		return
	}
	if *write {
		if err := os.WriteFile(page, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("the tables are not what is told; go test ./internal/protocol/httpapi/metrics -run TestPageOfMetrics -write writes them anew")
	has, tells := strings.Split(string(text), "\n"), strings.Split(string(want), "\n")
	for _, line := range has {
		if !slices.Contains(tells, line) {
			t.Errorf("the page: %s", line)
		}
	}
	for _, line := range tells {
		if !slices.Contains(has, line) {
			t.Errorf("missing: %s", line)
		}
	}
}
