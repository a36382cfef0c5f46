package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/cluster"
)

// TestRecoverDiverged checks that `fiveways cluster recover` says that the state of a folder is
// known to be wrong, and refuses it with a way out.
func TestRecoverDiverged(t *testing.T) {
	dir := t.TempDir()
	_, err := cluster.Init(dir, "n1:5680")
	must(t, err)
	mark := filepath.Join(dir, "cluster", "diverged")
	must(t, os.WriteFile(mark, []byte("part 2 differs\n"), 0o600))
	out, errs, code := command(t, "cluster", "recover", "--data", dir)
	if code != exitcode.OK || !strings.Contains(out, "NOT that of the leader") || !strings.Contains(out, "(part 2 differs)") || !strings.Contains(out, "with --yes this one is refused") {
		t.Errorf("without --yes: %d %s%s", code, out, errs)
	}
	_, errs, code = command(t, "cluster", "recover", "--data", dir, "--yes")
	if code != exitcode.WrongUsage || !strings.Contains(errs, mark) || !strings.Contains(errs, "another node") || complaint(errs, code) != "" {
		t.Errorf("with --yes: %d %s%s", code, errs, complaint(errs, code))
	}
	must(t, os.Remove(mark))
	if out, errs, code = command(t, "cluster", "recover", "--data", dir, "--yes"); code != exitcode.OK || strings.Contains(out, "NOT that") {
		t.Errorf("without the mark: %d %s%s", code, out, errs)
	}
}
