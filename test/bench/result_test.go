package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestTableJudgesMediansAgainstBars(t *testing.T) {
	c := benchCase{name: "c", title: "a case", metrics: []metric{
		{name: "rate", unit: "msg/s", more: true, bar: timesRival(8)},
		{name: "cpu", unit: "µs", bar: timesRival(8)},
		{name: "rss", unit: "MB", bar: limit(100)},
		{name: "kept", unit: "%", more: true, bar: limit(90)},
	}}
	res := newResult(c)
	for _, rate := range []float64{1, 1000, 1_000_000} { // the median counts, not the mean
		res.add(nameRabbit, values{"rate": rate, "cpu": 16, "rss": 50, "kept": 99})
	}
	res.add(nameOurs, values{"rate": 9000, "cpu": 4, "rss": 100.5, "kept": 95})
	res.add(nameFloor, values{"rate": 12_000, "cpu": 1})
	res.Failed[nameLavin] = "went\naway"
	res.brokers = []string{nameRabbit, nameLavin, nameOurs}
	r := report{Results: []*result{res}}
	var b strings.Builder
	writeTable(&b, r.Results)
	for _, line := range []string{
		"| a case | rate, msg/s | 1,000 | failed | 9,000 | 9 × | 12,000 | 75 % | ≥ 8 × | yes |",
		"|  | cpu, µs | 16 | failed | 4 | 4 × | 1 | 25 % | ≥ 8 × | no |",
		"|  | rss, MB | 50 | failed | 100 | 0.498 × | – | – | ≤ 100 MB | no |",
		"|  | kept, % | 99 | failed | 95 | 0.96 × | – | – | ≥ 90 % | yes |",
		"LavinMQ failed in c: went away",
	} {
		if !strings.Contains(b.String(), line+"\n") {
			t.Errorf("no line %q in\n%s", line, b.String())
		}
	}
	if r.failures() != 1 {
		t.Errorf("%d failures, want 1", r.failures())
	}
}

func TestVerdictNeedsTheRival(t *testing.T) {
	m := metric{bar: timesRival(8)}
	if v := m.verdict(1, 0, false); v != "" {
		t.Errorf("judged %q without a rival", v)
	}
}

func TestMedianAndNumber(t *testing.T) {
	if got := median([]float64{9, 1, 5, 3}); got != 4 {
		t.Errorf("median %v, want 4", got)
	}
	for v, want := range map[float64]string{0.12345: "0.123", 12.34: "12.3", 999.6: "1,000", 1234567: "1,234,567", -0.5: "-0.5", -1234: "-1,234"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestPercentilesSkipWarmUpAndNoticeLoss(t *testing.T) {
	w := newStopwatch(110)
	for i := range w.sent {
		w.sent[i].Store(1e6)
		took := int64(i-9) * 1e6
		if i < 10 {
			took = 5000e6 // a slow start, to be skipped
		}
		w.arrived[i].Store(1e6 + took)
	}
	v := values{}
	err := w.percentiles(v, "late", w.arrived, 10)
	if err != nil || v["late p50"] != 50 || v["late p99"] != 99 || v["late p99.9"] != 99 {
		t.Errorf("got %v, %v, want 50, 99 and 99", v, err)
	}
	w.arrived[60].Store(0)
	if err := w.percentiles(v, "late", w.arrived, 10); err == nil {
		t.Error("a lost message went unnoticed")
	}
}

func TestSettings(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-d", "1ms"}, {"-scale", "2"}, {"extra"}, {"-nope"}} {
		if _, err := parseSettings(args, io.Discard); !errors.Is(err, errUsage) {
			t.Errorf("%v: got %v, want errUsage", args, err)
		}
	}
	s, err := parseSettings([]string{"-scale", "0.02"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.scaled(1_000_000, 6400); got != 25_600 {
		t.Errorf("scaled to %d, want 25600", got)
	}
	if got := s.scaled(10, 4); got != 4 {
		t.Errorf("scaled to %d, want one multiple", got)
	}
}

func TestChosenCases(t *testing.T) {
	names := map[string]bool{}
	for _, c := range allCases() {
		if names[c.name] {
			t.Errorf("case %s twice", c.name)
		}
		names[c.name] = true
	}
	if got := chosen(allCases(), settings{only: "backlog"}); len(got) != 1 {
		t.Errorf("%d cases without --big, want 1", len(got))
	}
	if got := chosen(allCases(), settings{only: "backlog,stream"}); len(got) != 2 {
		t.Errorf("%d cases of two prefixes, want 2", len(got))
	}
	if got := chosen(allCases(), settings{only: "backlog", big: true}); len(got) != 2 {
		t.Errorf("%d cases with --big, want 2", len(got))
	}
}

func TestBindingPatternMatchesItsKeyOnly(t *testing.T) {
	kinds := map[int64]bool{}
	for i := range int64(40) {
		key := i * routedStride % 40
		kinds[key%4] = true
		for pattern := range int64(40) {
			got := topicMatch(strings.Split(bindingPattern(pattern), "."), strings.Split(routedKey(key), "."))
			if got != (pattern == key) {
				t.Errorf("pattern %q and key %q: match %v", bindingPattern(pattern), routedKey(key), got)
			}
		}
	}
	if len(kinds) != 4 {
		t.Errorf("keys reach %d kinds of pattern, want 4", len(kinds))
	}
}

// topicMatch defines topic patterns: * matches one word, # any number of words.
func topicMatch(pattern, key []string) bool {
	if len(pattern) == 0 {
		return len(key) == 0
	}
	if pattern[0] == "#" {
		return topicMatch(pattern[1:], key) || len(key) > 0 && topicMatch(pattern, key[1:])
	}
	return len(key) > 0 && (pattern[0] == "*" || pattern[0] == key[0]) && topicMatch(pattern[1:], key[1:])
}
