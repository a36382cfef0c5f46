package statements

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/test/seeded"
	"fiveways.dev/fiveways/test/sql/sides"
)

const null = "NULL"

func ours(s *sql.Session, text string) ([]string, string) {
	var rows []string
	set := s.Settings()
	all, err := s.Split(text)
	if err == nil {
		var o *sql.Portal
		if o, err = s.Open(all[0], nil); err == nil {
			_, _, err = s.Fetch(context.Background(), o, 0, func(row []value.Datum) error {
				rows = append(rows, sides.Ours(o.Columns, row, &set, null))
				return nil
			})
		}
	}
	var e *pgerror.Error
	switch {
	case errors.As(err, &e):
		return nil, e.Code + " " + e.Message
	case err != nil:
		return nil, err.Error()
	}
	return rows, ""
}

func theirs(t *testing.T, c *pgconn.PgConn, text string) ([]string, string) {
	results, err := c.Exec(context.Background(), text).ReadAll()
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return nil, e.Code + " " + e.Message
	}
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range results[0].Rows {
		rows = append(rows, sides.Theirs(r, null))
	}
	return rows, ""
}

// TestSelects sends the same statements to both servers. STATEMENTS is their number, and
// STATEMENTS_SEED selects them. Rows are compared in order if the statement defines a total order.
func TestSelects(t *testing.T) {
	c, _ := sides.Start(t, "")
	s := sql.NewSession(sides.Options())
	defer s.Close()
	many, rng := seeded.Cases(t, "STATEMENTS", 1500, 9)
	wrong, errs := 0, 0
	for range many {
		g := &generator{rng: rng}
		text := g.statement()
		want, wantErr := theirs(t, c, text)
		got, gotErr := ours(s, text)
		if wantErr != "" {
			errs++
		}
		if !strings.Contains(text, " order by 1, 2") {
			slices.Sort(want)
			slices.Sort(got)
		}
		if wantErr != gotErr || fmt.Sprint(want) != fmt.Sprint(got) {
			t.Errorf("%s\n\twant %v %s\n\tgot  %v %s", strings.TrimPrefix(text, tables), want, wantErr, got, gotErr)
			if wrong++; wrong == 5 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d statements, %d of them errors", many, errs)
}
