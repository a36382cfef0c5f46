package vfs

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestReplace cuts the power at each step of Replace: the file has the old content or the new one.
func TestReplace(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	before, after := strings.Repeat("old ", 3000), strings.Repeat("new ", 2000)
	read := func(fsys FS) string {
		t.Helper()
		b, err := ReadSmall(fsys, "d/x", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for step, done := 1, false; !done; step++ {
		disk := NewMem()
		failing := NewErrors(disk)
		if err := errors.Join(disk.MkdirAll("d"), Replace(failing, "d/x", []byte(before))); err != nil {
			t.Fatal(err)
		}
		failing.CrashAt(failing.Count() + step)
		done = Replace(failing, "d/x", []byte(after)) == nil
		for range 20 {
			if got := read(disk.CrashClone(rng)); got != after && (done || got != before) {
				t.Fatalf("step %d: %d bytes are left: %.20q", step, len(got), got)
			}
		}
	}
}

func TestReadSmall(t *testing.T) {
	disk := NewMem()
	if err := errors.Join(disk.MkdirAll("d"), Replace(disk, "d/x", []byte("content"))); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadSmall(disk, "d/x", 4); string(b) != "cont" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := ReadSmall(disk, "d/y", 4); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
