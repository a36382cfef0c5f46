package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestServer checks that every database has hstore and the locale C.UTF-8, and that the options are
// set.
func TestServer(t *testing.T) {
	s := Run(t, Options{Database: "fiveways", Settings: []string{"work_mem=7MB"}})
	conn, err := pgx.Connect(t.Context(), s.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for query, want := range map[string]string{
		"select current_database()":     "fiveways",
		"select hstore('a', 'b')::text": `"a"=>"b"`,
		"show lc_collate":               "C.UTF-8",
		"select upper('привет')":        "ПРИВЕТ",
		"show server_encoding":          "UTF8",
		"show work_mem":                 "7MB",
		"show fsync":                    "off",
		"select (current_setting('server_version_num')::int >= 150000)::text": "true",
	} {
		var got string
		if err := conn.QueryRow(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", query, got, err, want)
		}
	}
	s.Close()
	if _, err := pgx.Connect(t.Context(), s.DSN()); err == nil {
		t.Error("a closed server serves")
	}
}
