package vfs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// inReadOnly is the environment variable with the folder of TestLockReadOnly, in its process.
const inReadOnly = "VFS_TEST_READ_ONLY"

// TestLockReadOnly takes locks in a read-only file system, in a process of its own.
func TestLockReadOnly(t *testing.T) {
	if dir := os.Getenv(inReadOnly); dir != "" {
		if _, err := os.Create(filepath.Join(dir, "new")); !errors.Is(err, syscall.EROFS) {
			t.Fatal(err)
		}
		lock, err := OS{}.Lock(filepath.Join(dir, "LOCK"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (OS{}).Lock(filepath.Join(dir, "LOCK")); !errors.Is(err, ErrLocked) {
			t.Errorf("locked twice: %v", err)
		}
		lock.Close()
		if lock, err = (OS{}).Lock(filepath.Join(dir, "none")); err != nil {
			t.Fatal(err)
		}
		lock.Close()
		return
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "LOCK"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const script = `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 99; exec "$0" -test.run '^TestLockReadOnly$'`
	cmd := exec.Command("sh", "-c", script, os.Args[0], dir)
	cmd.Env = append(os.Environ(), inReadOnly+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 99) {
		t.Skipf("this user cannot mount: %v %s", err, out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestLockOfARemovedFile: a lock file that its last holder removes is not the one at its path.
func TestLockOfARemovedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "LOCK")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !same(f, path) {
		t.Error("its own path names another file")
	}
	if err := os.Remove(path); err != nil || same(f, path) {
		t.Errorf("removed: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil || same(f, path) {
		t.Errorf("created again: %v", err)
	}
}
