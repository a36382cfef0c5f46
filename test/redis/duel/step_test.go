package duel

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestSteps checks that lines are parsed correctly, and that a formatted step is parsed to the same
// step.
func TestSteps(t *testing.T) {
	for _, row := range []struct {
		line string
		want Step
	}{
		{`LPUSH a 1`, Command("1", "LPUSH", "a", "1")},
		{`b> LPUSH a 1`, Command("b", "LPUSH", "a", "1")},
		{`XREADGROUP GROUP g c STREAMS s >`, Command("1", "XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")},
		{`XREADGROUP STREAMS none k > x`, Command("1", "XREADGROUP", "STREAMS", "none", "k", ">", "x")},
		{`2> LPUSH a "a b;\x00" "" "raw"`, Command("2", "LPUSH", "a", "a b;\x00", "", "raw")},
		{`c> MULTI;PING x; EXEC`, Step{Conn: "c", Commands: [][]string{{"MULTI"}, {"PING", "x"}, {"EXEC"}}}},
		{`c> raw "PING\r\n"`, Step{Conn: "c", Raw: "PING\r\n"}},
	} {
		for _, line := range []string{row.line, row.want.String()} {
			if got, err := ParseStep(line); err != nil || !reflect.DeepEqual(got, row.want) {
				t.Errorf("%s: %v %v", line, got, err)
			}
		}
	}
	for _, line := range []string{``, `MULTI;;EXEC`, `LPUSH a "b`, `raw PING`} {
		if got, err := ParseStep(line); err == nil {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestScripts(t *testing.T) {
	name := filepath.Join(t.TempDir(), "script.txt")
	text := "# About keys.\nPING\n# sorted\nKEYS *\n\n\n# expires\nb> BLPOP a 0.1\nPING"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readScripts(name)
	keys, wait := Command("1", "KEYS", "*"), Command("b", "BLPOP", "a", "0.1")
	keys.Sorted, wait.Expires = true, true
	want := []script{{name + ":2", []Step{Command("1", "PING"), keys}}, {name + ":8", []Step{wait, Command("1", "PING")}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %v", got, err)
	}
}
