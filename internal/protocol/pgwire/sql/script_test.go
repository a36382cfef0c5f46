package sql

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs the scripts in testdata: "sql" is one message of the simple protocol. The option
// calls shows the number of calls of the fake's functions since the last time, work shows the calls
// of Work, and status shows the status byte of ReadyForQuery.
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
