package calls

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/test/seeded"
	"fiveways.dev/fiveways/test/sql/sides"
)

var rewrite = flag.Bool("rewrite", false, "record the answers of the real server anew")

const recorded = "testdata/calls.txt"

// TestCalls compares with the recorded answers.
func TestCalls(t *testing.T) {
	want := read(t)
	c := newCounted()
	for _, s := range all() {
		w, ok := want[s.String()]
		if got := ours(c, s).String(); !ok || got != w {
			t.Errorf("%s\n\twant %s\n\tgot  %s", s, w, got)
		}
	}
}

// read returns the recorded answers by statement.
func read(t *testing.T) map[string]string {
	f, err := os.Open(recorded)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		parts := strings.SplitN(lines.Text(), "\t", 3)
		list[parts[2]] = parts[0] + "\t" + parts[1]
	}
	return list
}

// TestServerCalls compares the recorded answers with those of a real server, and random statements
// on both. CALLS is their number, and CALLS_SEED selects them.
func TestServerCalls(t *testing.T) {
	c, _ := sides.Start(t, setUp)
	if *rewrite {
		record(t, c)
	}
	want := read(t)
	for _, s := range all() {
		if got := theirs(t, c, s).String(); got != want[s.String()] {
			t.Errorf("recorded of %s\n\twant %s\n\tgot  %s", s, got, want[s.String()])
		}
	}
	compareRandom(t, c)
}

func record(t *testing.T, c *pgconn.PgConn) {
	var b strings.Builder
	for _, s := range all() {
		fmt.Fprintf(&b, "%s\t%s\n", theirs(t, c, s), s)
	}
	if err := os.WriteFile(recorded, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func compareRandom(t *testing.T, c *pgconn.PgConn) {
	many, rng := seeded.Cases(t, "CALLS", 500, 3)
	mine := newCounted()
	for range many {
		s := random(rng)
		if want, got := theirs(t, c, s), ours(mine, s); got != want {
			t.Errorf("%s\n\twant %s\n\tgot  %s", s, want, got)
		}
	}
}
