package backend

import (
	"runtime"
	"testing"
	"time"
)

// Unreferenced backends free their memory: this one, and those of earlier tests before it.
func TestForgottenBackend(t *testing.T) {
	awaitUnmapped(t)
	w := newTwin(t, 8)
	for range 20 {
		w.write()
	}
	if mapped.Load() == 0 {
		t.Fatal("no memory was mapped")
	}
	w.b = nil
	awaitUnmapped(t)
	runtime.KeepAlive(w)
}

func awaitUnmapped(t *testing.T) {
	t.Helper()
	for begin := time.Now(); mapped.Load() > 0; runtime.GC() { // cleanups run concurrently
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("%d bytes are still mapped", mapped.Load())
		}
	}
}
