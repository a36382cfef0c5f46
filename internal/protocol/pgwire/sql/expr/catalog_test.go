package expr

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fiveways.dev/fiveways/test/postgres"
)

// TestCatalogFiles generates the files of pgdata with the queries beside them. REWRITE=1 writes
// them; otherwise they must be unchanged. The OIDs of hstore's functions depend on the server and
// are ignored.
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
