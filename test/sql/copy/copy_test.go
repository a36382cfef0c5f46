package copy

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/sql/sides"
)

var rewrite = flag.Bool("rewrite", false, "record the answers of the real server anew")

const recorded = "testdata/copy.txt"

// TestCopy compares with the recorded answers.
func TestCopy(t *testing.T) {
	f, err := os.Open(recorded)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := map[string]string{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		c, answer, _ := strings.Cut(lines.Text(), "\t")
		want[c] = answer
	}
	for _, c := range all() {
		if got := ours(c); got != want[c.String()] {
			t.Errorf("%s\n\twant %s\n\tgot  %s", c, want[c.String()], got)
		}
	}
}

// TestServerCopy compares the recorded answers with those of a real server.
func TestServerCopy(t *testing.T) {
	c, _ := sides.Start(t, setUp)
	h := sides.Hijack(t, c)
	var answers strings.Builder
	for _, c := range all() {
		fmt.Fprintf(&answers, "%s\t%s\n", c, theirs(t, h, c))
	}
	if *rewrite {
		if err := os.WriteFile(recorded, []byte(answers.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := os.ReadFile(recorded); err != nil || string(all) != answers.String() {
		t.Errorf("the recorded answers are not those of the server: %v", err)
	}
}
