package broker

import (
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// life is the workload of a broker until a crash.
type life struct {
	options func(*Options)
	live    func(*Broker) // works until a promise fails: that is the crash
	check   func(*Broker) // checks what the next start finds
}

// crashEverywhere crashes at each disk operation in turn, each time with a new workload, and opens
// several of the disks that a power failure may leave. It returns after a run that ended without a
// crash.
func crashEverywhere(t *testing.T, disks uint64, begin func() life) {
	t.Helper()
	for k := 1; ; k++ {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		fs.CrashAt(k)
		l := begin()
		if b, err := tryOpen(fs, l.options); err == nil {
			l.live(b)
			b.Close() // fails after the crash; the goroutines must end anyway
		}
		for seed := range disks {
			again, err := tryOpen(mem.CrashClone(rand.New(rand.NewPCG(uint64(k), seed))), l.options)
			if err != nil {
				t.Fatalf("crash at operation %d, disk %d: cannot open: %v", k, seed, err)
			}
			l.check(again)
			mustClose(t, again)
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
