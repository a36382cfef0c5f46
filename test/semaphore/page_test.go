package semaphore

import (
	"os"
	"strings"
	"testing"
)

// TestPage runs the statements of the page about PostgreSQL, one per line, and compares the results
// with the comments after them.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/features/semaphores-in-postgresql.md")
	must(t, err)
	_, block, _ := strings.Cut(string(page), "```sql\n")
	block, _, _ = strings.Cut(block, "```")
	s := startPostgres(t)
	for line := range strings.Lines(block) {
		sql, want, _ := strings.Cut(strings.TrimSpace(line), "--")
		if got := s.shown(sql); got != strings.TrimSpace(want) {
			t.Errorf("%s gives %s, want %s", sql, got, want)
		}
	}
	if !strings.Contains(block, "enqueue") {
		t.Error("the page has no example")
	}
}

// shown formats the rows that a statement returns.
func (s *sqlSide) shown(sql string) string {
	results, err := s.conn.PgConn().Exec(s.ctx, sql).ReadAll()
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	var rows []string
	for _, r := range results {
		for _, row := range r.Rows {
			var values []string
			for _, v := range row {
				values = append(values, string(v))
			}
			if len(values) == 1 {
				rows = append(rows, values[0])
			} else {
				rows = append(rows, "("+strings.Join(values, ",")+")")
			}
		}
	}
	return strings.Join(rows, " ")
}
