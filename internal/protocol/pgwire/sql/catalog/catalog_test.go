package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/catalog"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/schema"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// fake is a schema mbus4 with one view and one function.
type fake struct{}

func (fake) Name() string    { return "mbus4" }
func (fake) Version() uint64 { return 1 }

func (fake) AllFunctions(*expr.Env) []*expr.Function {
	return []*expr.Function{{
		OID: 20000, Schema: "mbus4", Name: "greet", Volatility: expr.Volatile, Returns: value.QTModel, Comment: "greets somebody",
		Args: []expr.Arg{{Name: "who", Type: value.Text}, {Name: "how", Type: value.Hstore, HasDefault: true, DefaultSQL: "NULL::hstore"}},
		Rows: func(*expr.Env, []value.Datum) iter.Seq2[[]value.Datum, error] {
			return func(func([]value.Datum, error) bool) {}
		},
	}}
}

func (f fake) Functions(env *expr.Env, name string) []*expr.Function {
	if name == "greet" {
		return f.AllFunctions(env)
	}
	return nil
}

func (fake) AllRelations(*expr.Env) []schema.Relation { return []schema.Relation{people{}} }

func (fake) Relation(_ *expr.Env, name string) schema.Relation {
	if name == "people" {
		return people{}
	}
	return nil
}

func (fake) Type(name string) *value.Type { return nil }

type people struct{}

func (people) OID() uint32  { return 30000 }
func (people) Name() string { return "people" }
func (people) Kind() byte   { return 'v' }

func (people) Columns() []value.Field {
	return []value.Field{{Name: "name", Type: value.Text}, {Name: "notes", Type: value.Hstore}, {Name: "marks", Type: value.Int4.Array}}
}

func (people) Scan(*expr.Env, []bool) iter.Seq2[[]value.Datum, error] {
	return func(func([]value.Datum, error) bool) {}
}

// idle is a transaction that does nothing.
type idle struct{}

func (idle) Begin(bool)                   {}
func (idle) Commit(context.Context) error { return nil }
func (idle) Rollback()                    {}
func (idle) Savepoint() int               { return 0 }
func (idle) RollbackTo(int)               {}
func (idle) Close()                       {}

func newSession() *sql.Session {
	c := catalog.New(catalog.Options{
		Schemas: []schema.Schema{fake{}}, User: "ann", Database: "fiveways", Superuser: true, BackendPID: 7,
		Users: func() []catalog.Role { return []catalog.Role{{Name: "ann", Superuser: true}, {Name: "bob"}} },
	})
	return sql.NewSession(sql.Options{
		User: "ann", Database: "fiveways", Superuser: true, Schemas: append(c.Schemas(), fake{}), Names: c.Names(), Work: idle{}, BackendPID: 7,
		Notice: func(*pgerror.Error) {}, Parameter: func(string, string) {},
	})
}

// maxShown is the number of rows that a script shows of a result.
const maxShown = 12

func answer(s *sql.Session, text string) string {
	var out strings.Builder
	defer s.Sync(context.Background()) //nolint:errcheck // nothing is written
	statements, err := s.Split(text)
	if err != nil {
		return showError(err)
	}
	for _, st := range statements {
		portal, err := s.Open(st, nil)
		if err != nil {
			return showError(err)
		}
		count, set := 0, s.Settings()
		_, _, err = s.Fetch(context.Background(), portal, 0, func(row []value.Datum) error {
			if count++; count > maxShown {
				return nil
			}
			var cols []string
			for i, d := range row {
				if d == nil {
					cols = append(cols, "NULL")
					continue
				}
				cols = append(cols, value.String(portal.Columns[i].Type, d, &set))
			}
			fmt.Fprintln(&out, strings.ReplaceAll(strings.Join(cols, " | "), "\n", `\n`))
			return nil
		})
		if err != nil {
			return showError(err)
		}
		switch {
		case count > maxShown:
			fmt.Fprintln(&out, "more rows")
		case count == 0:
			fmt.Fprintln(&out, "no rows")
		}
	}
	return out.String()
}

func showError(err error) string {
	var e *pgerror.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("ERROR: %s %s\n", e.Code, e.Message)
	}
	return err.Error() + "\n"
}

// TestQueries runs the queries that psql (psql -E shows them) and drivers send. The expected
// results were reviewed by hand.
func TestQueries(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := newSession()
			defer s.Close()
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string { return answer(s, d.Input) })
		})
	}
}

// TestSearch compares the rows that a search finds with those of a scan.
func TestSearch(t *testing.T) {
	env := &expr.Env{Ctx: t.Context(), Path: []string{"public"}}
	searched := 0
	for _, s := range catalog.New(catalog.Options{Schemas: []schema.Schema{fake{}}, User: "ann", Database: "fiveways"}).Schemas() {
		for _, r := range s.AllRelations(env) {
			table, ok := r.(schema.Searcher)
			if !ok || len(table.Keys()) == 0 {
				continue
			}
			for at := range table.Keys() {
				searched++
				compareSearch(t, env, r, at)
			}
		}
	}
	if searched == 0 {
		t.Error("no relation is searched")
	}
}

// compareSearch searches by each value of one of the keys.
func compareSearch(t *testing.T, env *expr.Env, r schema.Relation, at int) {
	t.Helper()
	table := r.(schema.Searcher)
	column := table.Keys()[at]
	scanned := map[value.Datum][][]value.Datum{int64(1): nil, "no such name": nil}
	for row, err := range r.Scan(env, nil) {
		if err != nil {
			t.Fatal(err)
		}
		scanned[row[column]] = append(scanned[row[column]], row)
	}
	by := make([]value.Datum, len(table.Keys()))
	for by[at] = range scanned {
		var found [][]value.Datum
		for row, err := range table.Search(env, nil, by) {
			if err != nil {
				t.Fatal(err)
			}
			if row[column] == by[at] { // the condition is evaluated again
				found = append(found, row)
			}
		}
		if want := scanned[by[at]]; !reflect.DeepEqual(found, want) {
			t.Fatalf("%s, %v: found\n%v\nscanned\n%v", r.Name(), by[at], found, want)
		}
	}
}
