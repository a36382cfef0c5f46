package brokertest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	if build.err = noteSources(); build.err != nil {
		return "", build.err
	}
	if build.dir, build.err = os.MkdirTemp("", "fiveways-bin-"); build.err != nil {
		return "", build.err
	}
	path := filepath.Join(build.dir, "fiveways")
	if build.err = compile(path, ""); build.err != nil {
		return "", build.err
	}
	build.path = path
	return path, nil
}

// compile builds the broker with build tags.
func compile(path, tags string) error {
	build := exec.Command("go", "build", "-tags", tags, "-o", path, "fiveways.dev/fiveways/cmd/fiveways")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // static, like a release
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("brokertest: build: %w\n%s", err, out)
	}
	return nil
}

// Next returns the path of a binary that stands for the next version of fiveways: it supports a
// level of the log that this version does not (package level).
func Next(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fiveways-next")
	if err := compile(path, "nextlevel"); err != nil {
		t.Fatal(err)
	}
	return path
}

// noteSources tells `go test` that the tests depend on the sources of the broker, which they do not
// import. Otherwise it would use cached results after a change of the broker.
func noteSources() error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "fiveways.dev/fiveways").Output()
	if err != nil {
		return fmt.Errorf("brokertest: %w", err)
	}
	root := strings.TrimSpace(string(out))
	for _, folder := range []string{"cmd", "internal", "web", "worker"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			return fmt.Errorf("brokertest: %w", err)
		}
	}
	_, err = os.Stat(filepath.Join(root, "go.mod"))
	return err
}
