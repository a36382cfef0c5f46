package brokertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// build holds the binary of this test process.
var build struct {
	sync.Mutex
	dir  string // removed by Main
	path string
	err  error
}

// Main runs the tests of a package and removes the binary that was built for them.
func Main(m *testing.M) {
	code := m.Run()
	if build.dir != "" {
		os.RemoveAll(build.dir)
	}
	os.Exit(code)
}

// Binary returns the path of the fiveways binary, for scripts that start brokers of their own.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// binary returns the path of the fiveways binary, building it at the first call.
func binary() (string, error) {
	build.Lock()
	defer build.Unlock()
	if build.path != "" || build.err != nil {
		return build.path, build.err
	}
	if given := os.Getenv("BROKERTEST_BIN"); given != "" {
		build.path, build.err = filepath.Abs(given)
		return build.path, build.err
	}
	if build.dir, build.err = os.MkdirTemp("", "fiveways-bin-"); build.err != nil {
		return "", build.err
	}
	path := filepath.Join(build.dir, "fiveways")
	if out, err := exec.Command("go", "build", "-o", path, "fiveways/cmd/fiveways").CombinedOutput(); err != nil {
		build.err = fmt.Errorf("brokertest: build: %w\n%s", err, out)
		return "", build.err
	}
	build.path = path
	return path, nil
}
