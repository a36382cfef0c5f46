package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParsePgbench(t *testing.T) {
	out := "number of transactions actually processed: 7579\nnumber of failed transactions: 0 (0.000%)\n" +
		"latency average = 0.528 ms\ninitial connection time = 3 ms\ntps = 1894.913436 (without initial connection time)\n"
	if d, err := parsePgbench(out); err != nil || d.transactions != 7579 || d.rate != 1894.913436 {
		t.Errorf("got %+v, %v", d, err)
	}
	for _, bad := range []string{"", strings.Replace(out, "transactions: 0", "transactions: 3", 1)} {
		if d, err := parsePgbench(bad); err == nil {
			t.Errorf("%q: got %+v", bad, d)
		}
	}
}

func TestFitting(t *testing.T) {
	if n := fitting(80, time.Second, 3*time.Second, 4); n != 60 {
		t.Errorf("%d transactions of each client, want 60", n)
	}
	if n := fitting(1, time.Second, time.Millisecond, 64); n != 1 {
		t.Errorf("%d transactions of each client, want 1", n)
	}
}

func TestPageKeepsWhatWasNotMeasured(t *testing.T) {
	page := ""
	measure := func(name string, rate float64, brokers ...string) error {
		all := allCases()
		c := all[slices.IndexFunc(all, func(c benchCase) bool { return c.name == name })]
		c.metrics = []metric{{name: "rate", more: true, bar: timesRival(2)}}
		res := newResult(c)
		res.brokers = append(brokers, nameOurs)
		res.add(res.rival(), values{"rate": 1})
		res.add(nameOurs, values{"rate": rate})
		r := report{Command: "bench " + name, Results: []*result{res}}
		text, err := r.page(page, time.Unix(0, 0))
		if err == nil {
			page = text
		}
		return err
	}
	for _, m := range []struct {
		name  string
		rate  float64
		rival string
	}{
		{"backlog", 3, nameRabbit}, {"sql-post-4", 5, namePostgres}, {"jobs-list-1-1", 6, nameRedis}, {"etcd-queue-1", 7, nameEtcd},
		{"backlog", 4, nameRabbit}, {"sql-post-1", 8, namePostgres},
	} {
		if err := measure(m.name, m.rate, m.rival); err != nil {
			t.Fatal(err)
		}
	}
	if err := measure("stream", 9); !errors.Is(err, errColumns) {
		t.Errorf("rows of other columns: %v", err)
	}
	for text, times := range map[string]int{
		"| 3 × |": 0, "| 4 × |": 1, "| 5 × |": 1, "| 6 × |": 1, "| 7 × |": 1, "| 8 × |": 1,
		"# Benchmarks": 1, "## SQL": 1, "## Jobs": 1, "## Queues and keys": 1, "`bench backlog`": 1, "- sql-post-4: ": 1, "- sql-post-1: ": 1,
	} {
		if got := strings.Count(page, text); got != times {
			t.Errorf("%q is there %d times, want %d, in\n%s", text, got, times, page)
		}
	}
	if first, second := strings.Index(page, "| 8 × |"), strings.Index(page, "| 5 × |"); first > second {
		t.Error("the rows are not in the order of the cases")
	}
}

func TestMemoryOfAFamily(t *testing.T) {
	u, err := familyUsage(os.Getpid())
	if err != nil || u.memory <= 0 {
		t.Errorf("got %+v, %v", u, err)
	}
	if _, err := familyUsage(1 << 30); err == nil {
		t.Error("a process that is not there has no usage")
	}
}
