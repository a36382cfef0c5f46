package brokertest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// ErrNoMount says that the user may not mount file systems.
var ErrNoMount = errors.New("brokertest: needs the right to mount a file system")

// SmallDisk mounts a file system of the given size, such as 256m, and unmounts it when the test
// ends. Errors: ErrNoMount.
func SmallDisk(t testing.TB, size string) (dir string, err error) {
	t.Helper()
	if dir, err = os.MkdirTemp("", "disk-"); err != nil { // short: it holds sockets
		return "", err
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %v %s", ErrNoMount, err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	return dir, nil
}
