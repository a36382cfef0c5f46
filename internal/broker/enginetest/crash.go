package enginetest

import (
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Life is a broker's work until a crash.
type Life struct {
	Options func(*broker.Options)
	Live    func(*broker.Broker) // works until a promise fails, because of the crash
	Check   func(*broker.Broker) // checks what a start finds after it
}

// CrashEverywhere makes each operation on the disk in turn the last one of a new life, and opens so
// many of the disks that a power failure may leave then. It returns after the life that no crash
// has ended.
func CrashEverywhere(t *testing.T, disks uint64, begin func() Life) {
	t.Helper()
	for k := 1; ; k++ {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		fs.CrashAt(k)
		l := begin()
		if b, err := TryOpen(fs, l.Options); err == nil {
			l.Live(b)
			b.Close() // fails after the crash; the goroutines must end all the same
		}
		for seed := range disks {
			again, err := TryOpen(mem.CrashClone(rand.New(rand.NewPCG(uint64(k), seed))), l.Options)
			if err != nil {
				t.Fatalf("crash at operation %d, disk %d: cannot open: %v", k, seed, err)
			}
			l.Check(again)
			Close(t, again)
			if t.Failed() {
				t.Fatalf("crash at operation %d, disk %d", k, seed)
			}
		}
		if !fs.Crashed() {
			t.Logf("survived with %d operations", k-1)
			return
		}
	}
}
