package backend

import (
	"runtime"
	"testing"
	"time"
)

// A backend that nobody refers to gives its memory back.
func TestForgottenBackend(t *testing.T) {
	before := mapped.Load()
	w := newTwin(t, 8)
	for range 20 {
		w.write()
	}
	if mapped.Load() <= before {
		t.Fatal("no memory was mapped")
	}
	w.b = nil
	for begin := time.Now(); mapped.Load() > before; runtime.GC() { // cleanups run beside, and those of other tests' backends too
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("%d bytes are still mapped, %d before", mapped.Load(), before)
		}
	}
	runtime.KeepAlive(w)
}
