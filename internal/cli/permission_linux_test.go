package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"
)

// withoutRoot runs fn without root's file access, on a thread that ends with it.
func withoutRoot(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread must not be used again
		if os.Getuid() == 0 {
			const nobody = 65534
			if err := syscall.Setfsuid(nobody); err != nil {
				t.Error(err)
				return
			}
		}
		fn()
	}()
	<-done
}

func TestMissingPermission(t *testing.T) {
	closed := t.TempDir()
	must(t, os.Chmod(closed, 0o500))
	for name, args := range map[string][]string{
		"serve":        {"serve", "--amqp", "127.0.0.1:0", "--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--http", "127.0.0.1:0", "--metrics", "off", "--data", filepath.Join(closed, "data")},
		"serve inside": {"serve", "--amqp", "127.0.0.1:0", "--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--http", "127.0.0.1:0", "--metrics", "off", "--data", closed},
		"doctor":       {"doctor", closed},
	} {
		withoutRoot(t, func() {
			_, stderr, code := command(t, args...)
			if code != exitcode.Failure || !strings.Contains(stderr, closed) || !strings.Contains(stderr, "permission for it") {
				t.Errorf("%s: exit code %d, %s", name, code, stderr)
			}
		})
	}
}
