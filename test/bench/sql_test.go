package main

import (
	"os"
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
	measured := func(p part, rate float64) *report {
		c := benchCase{title: "a case", metrics: []metric{{name: "rate", more: true, bar: timesRival(2)}}}
		rival := nameRabbit
		switch p {
		case partSQL:
			c.sql, rival = sqlIdle, namePostgres
		case partJobs:
			c.jobs, rival = jobsLoad("list", 1, 1), nameRedis
		case partEtcd:
			c.etcd, rival = etcdKeys, nameEtcd
		}
		res := newResult(c)
		res.brokers = []string{rival, nameOurs}
		res.add(rival, values{"rate": 1})
		res.add(nameOurs, values{"rate": rate})
		return &report{Results: []*result{res}}
	}
	page := measured(partAMQP, 3).page("", time.Unix(0, 0))
	if strings.Contains(page, "PostgreSQL with its default") {
		t.Error("a section that nobody measured")
	}
	page = measured(partSQL, 5).page(page, time.Unix(0, 0))
	page = measured(partJobs, 6).page(page, time.Unix(0, 0))
	page = measured(partEtcd, 7).page(page, time.Unix(0, 0))
	page = measured(partAMQP, 4).page(page, time.Unix(0, 0))
	for text, times := range map[string]int{
		"| 3 × |": 0, "| 4 × | ≥ 2 × | yes |": 1, "| 5 × | ≥ 2 × | yes |": 1, "| 6 × | ≥ 2 × | yes |": 1, "| 7 × | ≥ 2 × | yes |": 1,
		"# Benchmarks": 1, "## SQL": 1, "## Jobs": 1, "## Queues and keys": 1,
	} {
		if got := strings.Count(page, text); got != times {
			t.Errorf("%q is there %d times, want %d, in\n%s", text, got, times, page)
		}
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
