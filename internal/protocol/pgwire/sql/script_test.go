package sql

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs testdata: "sql" is one message of the simple protocol, the option calls shows
// how often the fake's functions were called since the last time, work what the transaction was
// told, status the byte of ReadyForQuery.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c := newClient(false)
			defer c.s.Close()
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				switch d.Cmd {
				case "reset":
					c.s.Close()
					c = newClient(d.HasArg("superuser"))
				case "sql":
					c.query(d.Input)
				default:
					t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
				}
				if d.HasArg("status") {
					fmt.Fprintf(&c.out, "%c\n", c.s.Status())
				}
				if d.HasArg("calls") {
					fmt.Fprintf(&c.out, "calls %v\n", c.fake.calls)
					clear(c.fake.calls)
				}
				if d.HasArg("work") {
					fmt.Fprintf(&c.out, "work: %s\n", strings.Join(c.work.log, ", "))
					c.work.log = nil
				}
				return c.take()
			})
		})
	}
}
