package jobs

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// sides are the reference, and the broker in both versions of the protocol.
func sides(t *testing.T) []side {
	return []side{newReference(t), newNode(t, 2), newNode(t, 3)}
}

// TestScripts plays the files of testdata: every answer is what the file says, from all sides. With
// -rewrite the files take the answers.
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
				s.queue = d.CmdArgs[0].String() // a queue for each script, so that they do not see each other
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
