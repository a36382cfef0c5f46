package expressions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/parse"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
	"fiveways.dev/fiveways/test/postgres"
	"fiveways.dev/fiveways/test/seeded"
)

// outcome is the result of an expression: a value of a type, or an error.
type outcome struct {
	value, typeName string
	null            bool
	code, message   string
	position        int
}

func (o outcome) String() string {
	switch {
	case o.code != "":
		return fmt.Sprintf("error %s: %s at %d", o.code, o.message, o.position)
	case o.null:
		return "NULL :: " + o.typeName
	}
	return fmt.Sprintf("%q :: %s", o.value, o.typeName)
}

// same compares outcomes. It ignores the messages and positions of errors unless
// EXPRESSIONS_MESSAGES is set, since some depend on PostgreSQL's internals.
func (o outcome) same(b outcome) bool {
	if os.Getenv("EXPRESSIONS_MESSAGES") != "" && (o.message != b.message || o.position != b.position) {
		return false
	}
	return o.value == b.value && o.null == b.null && o.typeName == b.typeName && o.code == b.code
}

// settings are the settings of one part of a run, for both sides.
type settings struct{ zone, dateStyle, intervalStyle string }

var variants = []settings{
	{"UTC", "ISO, MDY", "postgres"}, {"Europe/Moscow", "ISO, DMY", "postgres"}, {"America/New_York", "SQL, MDY", "postgres_verbose"},
	{"Europe/Berlin", "Postgres, DMY", "sql_standard"}, {"Asia/Kolkata", "German, YMD", "iso_8601"},
}

func (s settings) ours(t *testing.T) value.Settings {
	zone, err := time.LoadLocation(s.zone)
	if err != nil {
		t.Fatal(err)
	}
	set := value.Defaults()
	format, order, _ := bytes.Cut([]byte(s.dateStyle), []byte(", "))
	set.Zone, set.ZoneName = zone, s.zone
	set.DateStyle = temporal.DateStyle{Format: string(format), Order: string(order)}
	set.IntervalStyle = temporal.IntervalStyle(s.intervalStyle)
	return set
}

func evaluate(text string, set value.Settings) (o outcome) {
	defer func() {
		if r := recover(); r != nil {
			o = outcome{code: "panic", message: fmt.Sprint(r)}
		}
	}()
	text = "select " + text
	tree, err := parse.Parse(text)
	if err != nil {
		return outcome{code: pgerror.SyntaxError, message: err.Error()}
	}
	c := &expr.Compiler{Text: text, Settings: set, Library: builtin.Library}
	e, err := c.Compile(tree.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val)
	if err == nil {
		e, err = c.ResolveUnknown(e)
	}
	if err != nil {
		return failed(err)
	}
	d, err := e.Eval(&expr.Env{Ctx: context.Background(), Settings: set, User: "u", Database: "d"})
	if err != nil {
		return failed(err)
	}
	if d == nil {
		return outcome{null: true, typeName: e.Type().Name}
	}
	return outcome{value: value.String(e.Type(), d, &set), typeName: e.Type().Name}
}

func failed(err error) outcome {
	var e *pgerror.Error
	if errors.As(err, &e) {
		return outcome{code: e.Code, message: e.Message, position: e.Position}
	}
	return outcome{code: "not of PostgreSQL", message: err.Error()}
}

// ask evaluates an expression in PostgreSQL with the simple protocol, which returns everything as
// text.
func ask(t *testing.T, conn *pgx.Conn, hstore map[uint32]string, text string) outcome {
	t.Helper()
	results, err := conn.PgConn().Exec(context.Background(), "select "+text).ReadAll()
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return outcome{code: e.Code, message: e.Message, position: int(e.Position)}
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	r := results[0]
	o := outcome{value: string(r.Rows[0][0]), null: r.Rows[0][0] == nil, typeName: "?"}
	oid := r.FieldDescriptions[0].DataTypeOID
	switch known := value.ByOID(oid); {
	case hstore[oid] != "":
		o.typeName = hstore[oid]
	case known != nil:
		o.typeName = known.Name
	default:
		o.typeName = fmt.Sprint(oid)
	}
	return o
}

// connect returns a connection, and the types of hstore by their OIDs on that server.
func connect(t *testing.T) (*pgx.Conn, map[uint32]string) {
	t.Helper()
	dsn := os.Getenv("EXPRESSIONS_DSN")
	if dsn == "" {
		dsn = postgres.Start(t, postgres.Options{})
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	var hstore, array uint32
	if err := conn.QueryRow(t.Context(), "select oid, typarray from pg_type where typname = 'hstore'").Scan(&hstore, &array); err != nil {
		t.Fatal(err)
	}
	return conn, map[uint32]string{hstore: "hstore", array: "_hstore"}
}

// TestRandomExpressions evaluates random expressions here and in PostgreSQL. EXPRESSIONS is their
// number, and EXPRESSIONS_SEED selects them; `make compare` uses a new seed each time.
func TestRandomExpressions(t *testing.T) {
	conn, hstore := connect(t)
	count, rng := seeded.Cases(t, "EXPRESSIONS", 3000, 1)
	g := generator{rng}
	differences, each := 0, count/uint64(len(variants))+1
	for _, variant := range variants {
		set := variant.ours(t)
		text := fmt.Sprintf("set timezone = '%s'; set datestyle = '%s'; set intervalstyle = '%s'", variant.zone, variant.dateStyle, variant.intervalStyle)
		if _, err := conn.PgConn().Exec(t.Context(), text).ReadAll(); err != nil {
			t.Fatal(err)
		}
		for range each {
			text := g.expression(g.pick(roots), 1+g.IntN(3))
			want, got := ask(t, conn, hstore, text), evaluate(text, set)
			if !got.same(want) {
				differences++
				t.Errorf("%s\n  PostgreSQL: %s\n  here:       %s", text, want, got)
			}
			if differences > 200 {
				t.Fatal("too many differences")
			}
		}
	}
	t.Logf("%d expressions, %d differences", each*uint64(len(variants)), differences)
}
