package workertest

import (
	"testing"

	"fiveways.dev/fiveways/worker"
)

func TestMemory(t *testing.T) {
	Conformance(t, Suite{Open: func(*testing.T) worker.Jobs { return NewMemory() }})
}
