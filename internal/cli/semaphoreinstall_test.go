package cli

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/test/postgres"
)

func TestSemaphoreInstall(t *testing.T) {
	dsn := postgres.Start(t, postgres.Options{Database: "shop"})
	for _, want := range []string{"Installed version 1 of task semaphores in database shop", "Version 1 was there. Installed"} {
		if stdout, stderr, code := command(t, "semaphore", "install", dsn); code != exitcode.OK || !strings.HasPrefix(stdout, want) || !strings.Contains(stdout, "no table markup.task") {
			t.Errorf("exit code %d, stdout %q, stderr %q; want %q", code, stdout, stderr, want)
		}
	}
}

func TestSemaphoreInstallPrints(t *testing.T) {
	stdout, _, code := command(t, "semaphore", "install", "--print")
	if code != exitcode.OK || !strings.HasPrefix(stdout, "begin;") || !strings.Contains(stdout, "semaphore.settle") || !strings.HasSuffix(stdout, "commit;\n") {
		t.Errorf("exit code %d, %d bytes", code, len(stdout))
	}
	if _, _, code := command(t, "semaphore", "install"); code != exitcode.WrongUsage {
		t.Errorf("exit code %d without a DSN", code)
	}
}
