package cluster

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestNames checks that names outlive the process, and that a duplicate name is reported when it is
// new.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, identityDir), 0o700); err != nil {
		t.Fatal(err)
	}
	open := func() *names {
		n, err := openNames(vfs.OS{}, dir)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, said := range []struct {
		node   uint64
		name   string
		others []uint64
	}{{1, "a", nil}, {2, "b", nil}, {3, "a", []uint64{1}}, {3, "a", nil}, {1, "c", nil}} {
		others, err := open().note(said.node, said.name)
		if err != nil || !slices.Equal(others, said.others) {
			t.Errorf("%+v: %v, %v", said, others, err)
		}
	}
	n := open()
	if n.of(1) != "c" || n.of(2) != "b" || n.of(3) != "a" || n.of(4) != "" {
		t.Errorf("%v", n.known)
	}
	if err := os.WriteFile(n.path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := openNames(vfs.OS{}, dir); err == nil || n.of(1) != "" {
		t.Errorf("a file that makes no sense: %v", err)
	}
}
