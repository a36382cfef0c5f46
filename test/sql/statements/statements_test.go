package statements

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/test/postgres"
)

// nothing is a Work without effects.
type nothing struct{}

func (nothing) Begin(bool)     {}
func (nothing) Commit() error  { return nil }
func (nothing) Rollback()      {}
func (nothing) Savepoint() int { return 0 }
func (nothing) RollbackTo(int) {}
func (nothing) Close()         {}

func ours(s *sql.Session, text string) ([]string, string) {
	var rows []string
	all, err := s.Split(text)
	if err == nil {
		var o *sql.Portal
		if o, err = s.Open(all[0], nil); err == nil {
			_, _, err = s.Fetch(context.Background(), o, 0, func(row []value.Datum) error {
				rows = append(rows, line(s, o, row))
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

func line(s *sql.Session, o *sql.Portal, row []value.Datum) string {
	var vals []string
	set := s.Settings()
	for i, d := range row {
		if d == nil {
			vals = append(vals, "NULL")
			continue
		}
		vals = append(vals, value.String(o.Columns[i].Type, d, &set))
	}
	return strings.Join(vals, "|")
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
		var vals []string
		for _, v := range r {
			if v == nil {
				vals = append(vals, "NULL")
			} else {
				vals = append(vals, string(v))
			}
		}
		rows = append(rows, strings.Join(vals, "|"))
	}
	return rows, ""
}

// TestSelects sends the same statements to both servers. STATEMENTS is their number, and
// STATEMENTS_SEED selects them. Rows are compared in order if the statement defines a total order.
func TestSelects(t *testing.T) {
	c, err := pgconn.Connect(context.Background(), postgres.Start(t, postgres.Options{LogTo: filepath.Join(t.TempDir(), "log")}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	s := sql.NewSession(sql.Options{User: "postgres", Database: "postgres", Work: nothing{}})
	defer s.Close()
	many, seed := number("STATEMENTS", 1500), uint64(number("STATEMENTS_SEED", 1))
	t.Logf("STATEMENTS_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 9))
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

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
