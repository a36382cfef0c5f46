package loads

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// mostBreaches limits the breaches that a test reports one by one.
const mostBreaches = 20

// reportBreaches fails the test with each of the first breaches.
func reportBreaches[B any](t *testing.T, breaches []B) {
	t.Helper()
	for _, breach := range breaches[:min(len(breaches), mostBreaches)] {
		t.Error(breach)
	}
	if more := len(breaches) - mostBreaches; more > 0 {
		t.Errorf("and %d more", more)
	}
}

// keepHistory writes the events of a test that has failed as text to a file.
func keepHistory[E any](t *testing.T, events []E) {
	t.Helper()
	if !t.Failed() {
		return
	}
	path := filepath.Join(t.ArtifactDir(), "history.txt")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	for n, e := range events {
		fmt.Fprintln(w, n, e)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("history in %s (kept with -artifacts)", path)
}

// closedAfter returns a channel that is closed once all goroutines of the group have ended.
func closedAfter(working *sync.WaitGroup) <-chan struct{} {
	idle := make(chan struct{})
	go func() {
		working.Wait()
		close(idle)
	}()
	return idle
}
