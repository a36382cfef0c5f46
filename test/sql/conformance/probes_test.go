package conformance

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/internal/sqlschema"
	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/postgres"
)

// probesFile has the queries that drivers and tools send when they start and inspect a database:
// paragraphs of a name, a query on one line, and the shape of PostgreSQL's answer, which -rewrite
// updates.
const probesFile = "testdata/probes.txt"

const shapeMark = "--> "

type probe struct{ name, query, shape string }

func readProbes(t *testing.T) (all []probe) {
	t.Helper()
	text, err := os.ReadFile(probesFile)
	must(t, err)
	for _, paragraph := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		lines := strings.Split(paragraph, "\n")
		if len(lines) < 2 {
			t.Fatalf("no query in %q", paragraph)
		}
		p := probe{name: lines[0], query: lines[1]}
		if len(lines) > 2 {
			p.shape = strings.TrimPrefix(lines[2], shapeMark)
		}
		all = append(all, p)
	}
	return all
}

// TestProbes compares the shapes of answers: the names and types of columns, and whether there are
// rows, or the error.
func TestProbes(t *testing.T) {
	all := readProbes(t)
	if *rewrite {
		server := postgres.Run(t, postgres.Options{Database: "fiveways"})
		if _, err := sqlschema.Install(t.Context(), server.DSN()); err != nil {
			t.Fatal(err)
		}
		takeShapes(t, all, server.DSN())
	}
	b, err := brokertest.Start(t.Context(), t.TempDir(), "--sql", "127.0.0.1:0", "--sync", "os", "--log-level", "error")
	must(t, err)
	t.Cleanup(b.Kill)
	dsn := "postgres://guest@" + b.SQLAddr() + "/fiveways?sslmode=disable"
	for _, p := range all {
		if got := shapeOf(t, dsn, p.query); got != p.shape {
			t.Errorf("%s\n\tgot  %s\n\twant %s", p.name, got, p.shape)
		}
	}
}

func takeShapes(t *testing.T, all []probe, dsn string) {
	t.Helper()
	var b strings.Builder
	for i := range all {
		p := &all[i]
		p.shape = shapeOf(t, dsn, p.query)
		fmt.Fprintf(&b, "%s\n%s\n%s%s\n\n", p.name, p.query, shapeMark, p.shape)
	}
	must(t, os.WriteFile(probesFile, []byte(b.String()), 0o644))
}

// shapeOf runs a query on a new connection, since some probes change the connection.
func shapeOf(t *testing.T, dsn, query string) string {
	t.Helper()
	c, err := pgconn.Connect(t.Context(), dsn)
	must(t, err)
	defer c.Close(context.Background())
	results, err := c.Exec(t.Context(), query).ReadAll()
	if err != nil {
		return pgErrorText(t, err)
	}
	var parts []string
	for _, r := range results {
		shape := "none"
		if len(r.Rows) > 0 {
			shape = "rows"
		}
		if r.FieldDescriptions == nil {
			shape = r.CommandTag.String()
		}
		for _, f := range r.FieldDescriptions {
			shape += fmt.Sprintf(" %s:%d", f.Name, typeShown(f.DataTypeOID))
		}
		parts = append(parts, shape)
	}
	return strings.Join(parts, "; ")
}

// typeShown returns the OID of a built-in type of PostgreSQL. Types of schemas have different OIDs
// on each server.
func typeShown(oid uint32) uint32 {
	const firstOfSchemas, text, anyArray = 16384, 25, 2277
	if oid == anyArray { // no column has this type here
		return text
	}
	if oid >= firstOfSchemas {
		return 0
	}
	return oid
}
