package store

import (
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

const testDir = "/data"

func quiet(o Options) Options {
	o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	return o
}

func mustOpen(t testing.TB, fs vfs.FS, o Options) *Store {
	t.Helper()
	s, err := Open(fs, testDir, quiet(o))
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return s
}

// facts encodes a list of facts as the data of an entry.
func facts(list ...string) []byte {
	var b []byte
	for _, f := range list {
		b = binary.AppendUvarint(b, uint64(len(f)))
		b = append(b, f...)
	}
	return b
}

// entry returns an entry with one fact that names it, of at least size bytes.
func entry(shard uint32, index uint64, size int, wait bool) Entry {
	e := Entry{Shard: shard, Index: index, Data: facts(factText(shard, index, size)), Refs: 1}
	if wait {
		e.Wait = WaitSync
	}
	return e
}

func factText(shard uint32, index uint64, size int) string {
	return fmt.Sprintf("%-*s", size, fmt.Sprintf("f%d/%d", shard, index))
}

// appendWait appends one group and waits for its done.
func appendWait(t testing.TB, s *Store, group ...Entry) {
	t.Helper()
	if err := appendErr(s, group...); err != nil {
		t.Fatalf("Append: %v", err)
	}
}

func appendErr(s *Store, group ...Entry) error {
	done := make(chan error, 1)
	s.Append(group, func(err error) { done <- err })
	return <-done
}

// replayed returns the facts of a shard, each as "index.sub text".
func replayed(t testing.TB, s *Store, shard uint32, after uint64) []string {
	t.Helper()
	var out []string
	err := s.Replay(shard, after, func(index uint64, sub uint32, fact []byte) error {
		out = append(out, fmt.Sprintf("%d.%d %s", index, sub, fact))
		return nil
	})
	if err != nil {
		t.Fatalf("Replay of shard %d after %d: %v", shard, after, err)
	}
	return out
}

func closeStore(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func writeText(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// crashSeeds returns the range of seeds for a test that crashes at every operation: unset seeds, or
// CRASH_SEEDS of them starting at CRASH_FROM.
func crashSeeds(t *testing.T, unset uint64) (from, to uint64) {
	t.Helper()
	from, count := uint64(1), unset
	for name, n := range map[string]*uint64{"CRASH_FROM": &from, "CRASH_SEEDS": &count} {
		if text := os.Getenv(name); text != "" {
			var err error
			if *n, err = strconv.ParseUint(text, 10, 64); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	return from, from + count
}
