// Package logtest collects what a test's subject logs.
package logtest

import (
	"strings"
	"sync"
)

// Text is the output of a log that may be read while goroutines write to it. The zero value is
// empty.
type Text struct {
	mu sync.Mutex
	b  strings.Builder
}

// Write implements io.Writer. It never fails.
func (t *Text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

// String returns what was written since the last Take.
func (t *Text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// Take returns what was written since the last Take, and drops it.
func (t *Text) Take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.b.Reset()
	return t.b.String()
}
