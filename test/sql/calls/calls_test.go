package calls

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/test/postgres"
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
	c, err := pgconn.Connect(context.Background(), postgres.Start(t, postgres.Options{LogTo: filepath.Join(t.TempDir(), "log")}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	if _, err := c.Exec(context.Background(), setUp).ReadAll(); err != nil {
		t.Fatal(err)
	}
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
	many, seed := number("CALLS", 500), uint64(number("CALLS_SEED", 1))
	t.Logf("CALLS_SEED=%d", seed)
	rng, mine := rand.New(rand.NewPCG(seed, 3)), newCounted()
	for range many {
		s := random(rng)
		if want, got := theirs(t, c, s), ours(mine, s); got != want {
			t.Errorf("%s\n\twant %s\n\tgot  %s", s, want, got)
		}
	}
}

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
