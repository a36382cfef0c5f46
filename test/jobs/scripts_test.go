package jobs

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// sides returns the reference, and the broker in both versions of the protocol.
func sides(t *testing.T) []side {
	return []side{newReference(t), newNode(t, 2), newNode(t, 3)}
}

// TestScripts runs the files of testdata and checks that all sides give the answers in the file.
// With -rewrite it writes the answers into the files.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		both := sides(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p := newPlayer(t, both...)
			var out strings.Builder
			for line := range strings.SplitSeq(d.Input, "\n") {
				s, err := parse(line)
				if err != nil {
					t.Fatal(err)
				}
				s.queue = d.CmdArgs[0].String() // each script has its own queue, so that scripts do not interfere
				answer, agreed := p.play(s)
				if !agreed {
					t.Fatalf("%s: %s: %s", d.Pos, line, answer)
				}
				if answer != "" {
					out.WriteString(answer + "\n")
				}
			}
			return out.String()
		})
	})
}
