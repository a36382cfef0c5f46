package drivers

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/sqlschema"
	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/postgres"
)

// programPatience is the timeout of a program. The slowest takes a few seconds.
const programPatience = 2 * time.Minute

// target is a server on which the drivers are tested.
type target struct {
	name string
	url  string
	app  string // URL as user app, whose password is secret; "" if the server has no such user
}

func TestMain(m *testing.M) { brokertest.Main(m) }

// TestDrivers runs every driver on the SQL protocol, and on a real PostgreSQL with the native
// schema if one is installed.
func TestDrivers(t *testing.T) {
	servers := startServers(t)
	for _, d := range []struct {
		name string
		test func(t *testing.T, s target)
	}{
		{"psql", withPsql}, {"pgbench", withPgbench}, {"pgx", withPgx}, {"stdlib", withStdlib}, {"libpq", withLibPQ},
		{"psycopg2", withPsycopg2}, {"psycopg3", withPsycopg3}, {"node", withNode}, {"jdbc", withJDBC},
		{"metadata", withMetadata}, {"jdbcmetadata", withJDBCMetadata},
		{"examples", withExamples},
	} {
		t.Run(d.name, func(t *testing.T) {
			for _, s := range servers {
				t.Run(s.name, func(t *testing.T) { d.test(t, s) })
			}
		})
	}
}

func startServers(t *testing.T) []target {
	t.Helper()
	dir := t.TempDir()
	b, err := brokertest.Start(t.Context(), dir, "--sql", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() {
		b.Kill()
		if t.Failed() {
			t.Logf("broker:\n%s", b.Log())
		}
	})
	addUser(t, dir)
	servers := []target{{
		name: "fiveways", url: "postgres://guest@" + b.SQLAddr() + "/fiveways?sslmode=disable",
		app: "postgres://app:secret@" + b.SQLAddr() + "/fiveways?sslmode=disable",
	}}
	real, err := postgres.Open(postgres.Options{Database: "fiveways"})
	if err != nil {
		t.Log(err)
		return servers
	}
	t.Cleanup(real.Close)
	if _, err := sqlschema.Install(t.Context(), real.DSN()); err != nil {
		t.Fatal(err)
	}
	return append(servers, target{name: "postgres", url: real.DSN()})
}

// addUser adds a user with a password and all permissions.
func addUser(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{
		{"user", "add", "app", "--password-stdin", "--data", dir},
		{"permission", "set", "app", ".*", ".*", ".*", "--data", dir},
	} {
		cmd := exec.Command(brokertest.Binary(t), args...)
		cmd.Stdin = strings.NewReader("secret\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
}

func withPsycopg2(t *testing.T, s target) { withPython(t, s, "python/with_psycopg2.py") }

func withPsycopg3(t *testing.T, s target) { withPython(t, s, "python/with_psycopg3.py") }

func withPython(t *testing.T, s target, script string) {
	setUp(t, "python", "python3")
	run(t, s, nil, ".venv/bin/python", script)
}

func withNode(t *testing.T, s target) {
	setUp(t, "node", "node", "npm")
	run(t, s, nil, "node", "node/with_pg.js")
}

func withJDBC(t *testing.T, s target) {
	setUp(t, "java", "java", "javac", "mvn")
	classPath, err := os.ReadFile("java/.build/classpath")
	must(t, err)
	run(t, s, []string{"CLASSPATH=java/.build/classes:" + string(classPath)}, "java", "WithJdbc")
}

// setUp installs the driver with setup.sh. If the tools for it are missing the test is skipped, but
// fails in CI.
func setUp(t *testing.T, driver string, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		need(t, tool)
	}
	if out, err := exec.Command("./setup.sh", driver).CombinedOutput(); err != nil {
		giveUp(t, "%s drivers not run: setup.sh: %v\n%s", driver, err, out)
	}
}

// need skips the test, or fails it in CI, if a program is missing.
func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		giveUp(t, "not run: %v", err)
	}
}

func giveUp(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// run runs a program and returns its standard output. The program checks its own claims, and exits
// with a code other than 0 if one does not hold.
func run(t *testing.T, s target, env []string, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), programPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "SQL_URL="+s.url, "APP_URL="+s.app, "SERVER="+s.name, "PYTHONDONTWRITEBYTECODE=1", "PGCLIENTENCODING=UTF8")
	cmd.Env = append(cmd.Env, env...)
	var out, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Errorf("%s %v: %v\n%s\n%s", program, args, err, out.String(), complaints.String())
	}
	return out.String()
}

// must fails the test at once if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
