package brokertest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// ErrNoMount is returned when the user may not mount file systems.
var ErrNoMount = errors.New("brokertest: needs the right to mount a file system")

// SmallDisk mounts a file system of the given size, such as 256m, and unmounts it when the test
// ends. Errors: ErrNoMount.
func SmallDisk(t testing.TB, size string) (dir string, err error) {
	t.Helper()
	return mount(t, "-t", "tmpfs", "-o", "size="+size, "tmpfs")
}

// FreezableDisk is a SmallDisk that Freeze works on. Errors: ErrNoMount.
func FreezableDisk(t testing.TB, size string) (dir string, err error) {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image")
	for _, args := range [][]string{{"truncate", "--size", size, image}, {"mkfs.ext4", "-q", "-m", "0", image}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s: %v %s", ErrNoMount, args[0], err, out)
		}
	}
	return mount(t, "-o", "loop", image)
}

// mount mounts a file system on a new folder until the test ends.
func mount(t testing.TB, args ...string) (dir string, err error) {
	t.Helper()
	if dir, err = os.MkdirTemp("", "disk-"); err != nil { // short, because it holds sockets
		return "", err
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if out, err := exec.Command("mount", append(args, dir)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %v %s", ErrNoMount, err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	return dir, nil
}

// Freeze makes a FreezableDisk answer no writes until thaw is called or the test ends.
func Freeze(t testing.TB, dir string) (thaw func()) {
	t.Helper()
	freeze := func(flag string) {
		if out, err := exec.Command("fsfreeze", flag, dir).CombinedOutput(); err != nil {
			t.Errorf("fsfreeze %s: %v %s", flag, err, out)
		}
	}
	freeze("--freeze")
	thaw = sync.OnceFunc(func() { freeze("--unfreeze") })
	t.Cleanup(thaw)
	return thaw
}

// Fill fills a disk with a file at path.
func Fill(t testing.TB, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if free, err := (vfs.OS{}).Free(filepath.Dir(path)); err == nil { // most of it need not be written
		exec.Command("fallocate", "--length", fmt.Sprint(free-free/64), path).Run() //nolint:errcheck // the writes below fill the rest
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 1<<20); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
}
