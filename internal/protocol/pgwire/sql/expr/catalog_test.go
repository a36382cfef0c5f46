package expr

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fiveways/internal/protocol/pgwire/sql/value"
	"fiveways/test/postgres"
)

// TestCatalogFiles makes the files of pgdata again, by the queries beside them. REWRITE=1 writes them; else they must be as they are. The OIDs
// of hstore's own functions depend on the server and are left aside.
func TestCatalogFiles(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), postgres.Start(t, postgres.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	var version string
	if err := conn.QueryRow(t.Context(), "show server_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(version, "15.") {
		t.Skipf("the files are PostgreSQL 15's, this one is %s", version)
	}
	for name, have := range map[string]string{"functions": functionLines, "operators": operatorLines, "casts": castLines, "types": typeLines} {
		query, err := os.ReadFile("pgdata/" + name + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		results, err := conn.PgConn().Exec(t.Context(), string(query)).ReadAll()
		if err != nil {
			t.Fatal(name, err)
		}
		var b strings.Builder
		for _, row := range results[0].Rows {
			for i, field := range row {
				if i > 0 {
					b.WriteByte('\t')
				}
				b.Write(field)
			}
			b.WriteByte('\n')
		}
		if os.Getenv("REWRITE") != "" {
			if err := os.WriteFile("pgdata/"+name+".txt", []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, got := strings.Split(b.String(), "\n"), strings.Split(have, "\n")
		if len(want) != len(got) {
			t.Errorf("%s.txt has %d lines, not %d", name, len(got), len(want))
			continue
		}
		for i := range want {
			if want[i] != got[i] && !strings.Contains(want[i], "hstore") {
				t.Errorf("%s.txt line %d is %q, not %q", name, i+1, got[i], want[i])
			}
		}
	}
}

// TestImplementations finds what is written for functions that do not exist: a misspelled name would never be called.
func TestImplementations(t *testing.T) {
	known := map[string]bool{}
	for line := range strings.Lines(functionLines) {
		f := readFunction(strings.TrimSuffix(line, "\n"))
		known[f.impl], known[f.impl+signature(f)], known[f.impl+variadicForm] = true, true, true
		if f.kind == 'a' {
			known[aggregatePrefix+f.Name], known[aggregatePrefix+f.Name+signature(f)] = true, true
		}
	}
	for line := range strings.Lines(operatorLines) {
		known[readOperator(strings.TrimSuffix(line, "\n")).impl] = true
	}
	for name := range implementations {
		if !known[name] {
			t.Errorf("%s is no function of PostgreSQL", name)
		}
	}
}

func TestLookups(t *testing.T) {
	if n := len(Functions("lower")); n != 3 {
		t.Errorf("lower has %d overloads, not 3", n) // of text and of ranges
	}
	for _, name := range []string{"", "zzz", "!", "lowe", "lower\t"} {
		if Functions(name) != nil {
			t.Errorf("there is a function %q", name)
		}
	}
	first, _, _ := strings.Cut(functionLines, "\t")
	last := strings.Split(strings.TrimSpace(functionLines), "\n")
	if Functions(first) == nil || Functions(strings.Split(last[len(last)-1], "\t")[0]) == nil {
		t.Error("the first or the last function is not found")
	}
	if n := len(AllFunctions()); n < 700 {
		t.Errorf("only %d functions can be called", n)
	}
	if n := len(AllOperators()); n < 300 {
		t.Errorf("only %d operators can be used", n)
	}
	if f := Functions("hstore_to_json"); len(f) != 1 || f[0].Schema != "public" || f[0].Args[0].Type != value.Hstore || f[0].Volatility != Immutable {
		t.Errorf("hstore_to_json is %+v", f)
	}
}
