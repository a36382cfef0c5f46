package demo

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestDemoTable(t *testing.T) {
	rows := []demoRow{
		{scene: "direct", queue: "q", want: []string{"a", "b"}, got: []string{"a", "b"}, took: 1500 * time.Microsecond},
		{scene: "fanout", queue: "r", want: []string{"a"}},
	}
	var out bytes.Buffer
	if err := printRows(&out, rows); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if !strings.Contains(lines[1], "1.50 ms") || !strings.HasSuffix(lines[1], "ok") || !strings.HasSuffix(lines[2], "WRONG") {
		t.Errorf("printed\n%s", &out)
	}
	if err := judge(&out, rows); err == nil || !strings.Contains(err.Error(), "1 of 2") {
		t.Errorf("verdict %v", err)
	}
	if err := judge(&out, rows[:1]); err != nil {
		t.Error(err)
	}
}
