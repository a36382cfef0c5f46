package soak

import (
	"maps"
	"strings"
	"testing"
	"time"
)

func TestParseMetrics(t *testing.T) {
	got, err := parseMetrics(strings.NewReader(`# HELP fiveways_connections Current connections
# TYPE fiveways_connections gauge
fiveways_connections{protocol="amqp"} 2
fiveways_connections{protocol="the sql"} 3
fiveways_log_bytes 1.5e+06
`))
	if want := map[string]float64{"fiveways_connections": 5, "fiveways_log_bytes": 1.5e6}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := parseMetrics(strings.NewReader("fiveways_log_bytes many\n")); err == nil {
		t.Error("a value that is no number is taken")
	}
}

func TestAddMeans(t *testing.T) {
	const sync = "fiveways_fsync_duration_seconds"
	first := map[string]float64{sync + "_sum": 2, sync + "_count": 4}
	second := map[string]float64{sync + "_sum": 2.3, sync + "_count": 5}
	idle := maps.Clone(second)
	addMeans(nil, first)
	addMeans(first, second)
	addMeans(second, idle)
	for n, c := range []struct{ got, want float64 }{{first[syncMean], 500}, {second[syncMean], 300}, {idle[syncMean], 300}} {
		if d := c.got - c.want; d > 1e-6 || d < -1e-6 {
			t.Errorf("mean %d is %v ms, want %v", n, c.got, c.want)
		}
	}
}

func TestProbePercentiles(t *testing.T) {
	p := &probe{}
	for n := range 1000 {
		p.note(&p.confirmed, time.Duration(1000-n)*time.Millisecond)
	}
	v := map[string]float64{}
	p.take(v)
	if want := map[string]float64{confirmP50: 500, confirmP99: 990, confirmP999: 999}; !maps.Equal(v, want) {
		t.Errorf("percentiles %v, want %v", v, want)
	}
	p.take(v)
	if len(p.confirmed) != 0 {
		t.Error("what was taken is still there")
	}
}

func TestTable(t *testing.T) {
	samples := series(func(float64, map[string]float64) {})
	lines := strings.Split(table(samples, 40), "\n")
	if len(lines) != 41 || len(lines[0]) != len(lines[1]) {
		t.Errorf("a table of %d lines:\n%s", len(lines), strings.Join(lines[:2], "\n"))
	}
	if len(csvHeader()) != len(csvLine(samples[0])) {
		t.Errorf("%d fields have %d names", len(csvLine(samples[0])), len(csvHeader()))
	}
}
