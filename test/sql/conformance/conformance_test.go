package conformance

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/sqlschema"
	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/postgres"

	"github.com/jackc/pgx/v5"
)

var (
	rewrite = flag.Bool("rewrite", false, "take the answers of PostgreSQL into the scripts")
)

// users are the ordinary users of scripts besides guest. Their passwords are their names.
var users = []string{"app", "other"}

// minStatements is the promised minimum number of statements.
const minStatements = 250

func TestMain(m *testing.M) { brokertest.Main(m) }

func scripts(t *testing.T) map[string]script {
	t.Helper()
	names, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	found, statements := map[string]script{}, 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		must(t, err)
		s, err := parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found[strings.TrimSuffix(filepath.Base(name), ".sql")] = s
		statements += len(s.steps)
	}
	if statements < minStatements {
		t.Errorf("%d statements, want %d at least", statements, minStatements)
	}
	return found
}

func TestPostgreSQL(t *testing.T) {
	all := scripts(t)
	server := postgres.Run(t, postgres.Options{})
	admin := connect(t, server.DSN())
	run(t, admin, "create role "+superuser+" superuser login")
	for _, user := range users {
		run(t, admin, "create role "+user+" login")
	}
	for name, s := range all {
		for _, extended := range []bool{false, true} {
			t.Run(name+suffix(extended), func(t *testing.T) {
				run(t, admin, "drop database if exists "+name+" with (force)")
				run(t, admin, "create database "+name+" owner "+superuser)
				dsn := func(user string) string {
					return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", user, server.Port(), name)
				}
				if _, err := sqlschema.Install(t.Context(), dsn(superuser)); err != nil {
					t.Fatal(err)
				}
				answers := playAll(t, s, dsn, extended)
				if *rewrite && !extended {
					must(t, os.WriteFile("testdata/"+name+".sql", []byte(s.format(answers)), 0o644))
					for i := range s.steps {
						s.steps[i].want = answers[i]
					}
					return
				}
				compare(t, s, answers)
			})
		}
	}
}

func TestFiveways(t *testing.T) {
	all := scripts(t)
	dir := t.TempDir()
	b, err := brokertest.Start(t.Context(), dir, "--sql", "127.0.0.1:0", "--sync", "os", "--log-level", "error")
	must(t, err)
	t.Cleanup(func() {
		b.Kill()
		if t.Failed() {
			t.Logf("broker:\n%s", b.Log())
		}
	})
	operate := func(input string, args ...string) {
		t.Helper()
		cmd := exec.Command(brokertest.Binary(t), append(args, "--data", dir)...)
		cmd.Stdin = strings.NewReader(input)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("fiveways %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	for _, user := range users {
		operate(user+"\n", "user", "add", user, "--password-stdin")
	}
	for name, s := range all {
		for _, extended := range []bool{false, true} {
			t.Run(name+suffix(extended), func(t *testing.T) {
				operate("", "vhost", "add", name)
				defer operate("", "vhost", "delete", name, "--yes")
				operate("", "permission", "set", superuser, ".*", ".*", ".*", "--vhost", name)
				for _, user := range users { // they create only temporary queues
					operate("", "permission", "set", user, "^temp[.]", ".*", ".*", "--vhost", name)
				}
				dsn := func(user string) string {
					return fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", user, user, b.SQLAddr(), name)
				}
				compare(t, s, playAll(t, s, dsn, extended))
			})
		}
	}
}

func suffix(extended bool) string {
	if extended {
		return "/extended"
	}
	return "/simple"
}

func playAll(t *testing.T, s script, dsn func(string) string, extended bool) [][]string {
	t.Helper()
	answers, err := play(t.Context(), s, dsn, extended)
	if err != nil {
		t.Fatalf("after %d steps: %v", len(answers), err)
	}
	return answers
}

// compare reports each answer that differs from the one in the script.
func compare(t *testing.T, s script, answers [][]string) {
	t.Helper()
	for i, st := range s.steps {
		if !slices.Equal(st.want, answers[i]) {
			t.Errorf("line %d, session %s: %s\n\tgot  %s\n\twant %s", st.line, st.session, strings.ReplaceAll(st.sql, "\n", "\n\t\t"),
				strings.Join(answers[i], "\n\t     "), strings.Join(st.want, "\n\t     "))
		}
	}
}

// servers starts a broker, and a PostgreSQL with the native schema. It returns how to connect.
func servers(t *testing.T) (ours, theirs string) {
	t.Helper()
	server := postgres.Run(t, postgres.Options{Database: "fiveways"})
	if _, err := sqlschema.Install(t.Context(), server.DSN()); err != nil {
		t.Fatal(err)
	}
	b, err := brokertest.Start(t.Context(), t.TempDir(), "--sql", "127.0.0.1:0", "--sync", "os", "--log-level", "error")
	must(t, err)
	t.Cleanup(b.Kill)
	return "postgres://guest@" + b.SQLAddr() + "/fiveways?sslmode=disable", server.DSN()
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func run(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// must fails the test at once if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
