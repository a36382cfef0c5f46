package cli

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/test/postgres"
)

func TestSQLInstall(t *testing.T) {
	dsn := postgres.Start(t, postgres.Options{Database: "shop"})
	for _, want := range []string{"Installed version 1 of the schema mbus4 in database shop", "Version 1 was there. Installed"} {
		if stdout, stderr, code := command(t, "sql", "install", dsn); code != exitcode.OK || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d, stdout %q, stderr %q; want %q", code, stdout, stderr, want)
		}
	}
}

func TestSQLInstallTellsTheWayOut(t *testing.T) {
	for dsn, want := range map[string]string{
		"postgres://%zz": "It looks like postgres://",
		"postgres://guest@127.0.0.1:1/x?sslmode=disable": "Does psql connect",
	} {
		if _, stderr, code := command(t, "sql", "install", dsn); code == exitcode.OK || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, stderr %q; want %q", dsn, code, stderr, want)
		}
	}
}

func TestSQLPrint(t *testing.T) {
	stdout, _, code := command(t, "sql", "print", "--hstore-schema", "elsewhere")
	if code != exitcode.OK || !strings.HasPrefix(stdout, "begin;") || !strings.Contains(stdout, `pg_catalog, "elsewhere"`) || !strings.HasSuffix(stdout, "commit;\n") {
		t.Errorf("exit code %d, %d bytes", code, len(stdout))
	}
}
