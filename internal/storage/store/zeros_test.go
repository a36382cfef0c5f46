package store

import (
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/logtest"
	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

// sizeOf returns the size of a segment's file.
func sizeOf(t *testing.T, fs vfs.FS, number uint64) int64 {
	t.Helper()
	n, err := fs.Stat(filepath.Join(testDir, wal.SegmentName(number)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSmallEntriesDoNotMakeTheFileLarger(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options Options
		size    int
		sizes   int // number of sizes the file has had
	}{
		{"small ones", Options{}, 300, 2},
		{"large ones", Options{}, smallWrite, 100},
		{"the system decides when to sync", Options{Sync: SyncOS}, 300, 100},
		{"nothing is synced", Options{Scratch: true}, 300, 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fs := vfs.NewMem()
			s := mustOpen(t, fs, tc.options)
			sizes := map[int64]bool{}
			for i := uint64(1); i <= 100; i++ {
				appendWait(t, s, entry(1, i, tc.size, true))
				sizes[sizeOf(t, fs, 1)] = true
			}
			if len(sizes) > tc.sizes || tc.sizes == 100 && len(sizes) < 100 {
				t.Errorf("the file had %d sizes, want %d", len(sizes), tc.sizes)
			}
			closeStore(t, s)
		})
	}
}

func TestZerosAreTheEndOfTheLog(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{})
	appendWait(t, s, entry(1, 1, 300, true))
	appendWait(t, s, entry(1, 2, 300, true))
	killed := fs.CrashClone(rand.New(rand.NewPCG(1, 1)))
	closeStore(t, s)
	end := sizeOf(t, fs, 1)
	if laid := sizeOf(t, killed, 1); laid < end+zeroBytes/2 || end > 2000 {
		t.Fatalf("%d bytes after the end, %d while it ran", end, laid)
	}
	report, err := Inspect(killed, testDir)
	if err != nil || len(report.Damage) > 0 {
		t.Errorf("a killed store: %v, %v", report.Damage, err)
	}
	var log logtest.Text
	s, err = Open(killed, testDir, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if got := replayed(t, s, 1, 0); len(got) != 2 || strings.Contains(log.String(), "torn") {
		t.Errorf("%d entries, log %q", len(got), &log)
	}
	appendWait(t, s, entry(1, 3, 300, true))
	closeStore(t, s)
	s = mustOpen(t, killed, Options{})
	if got := replayed(t, s, 1, 0); len(got) != 3 {
		t.Errorf("%d entries", len(got))
	}
	closeStore(t, s)
}

func TestSealedSegmentsHaveNoZeros(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{SegmentBytes: 4 << 10})
	for i := uint64(1); i <= 40; i++ {
		appendWait(t, s, entry(1, i, 300, true))
	}
	if n := sizeOf(t, fs, 1); n > 8<<10 {
		t.Errorf("a full segment has %d bytes", n)
	}
	closeStore(t, s)
	s = mustOpen(t, fs, Options{SegmentBytes: 4 << 10})
	if got := replayed(t, s, 1, 0); len(got) != 40 {
		t.Errorf("%d entries", len(got))
	}
	closeStore(t, s)
}
