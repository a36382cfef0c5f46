package daemon

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestEnded checks that waiting for a server that has exited fails at once, with its output.
func TestEnded(t *testing.T) {
	p, err := Start(exec.Command("sh", "-c", "echo the port is taken; exit 1"), filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	err = p.Await(t.Context(), func() error { return errors.New("no answer") })
	if !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), "the port is taken") {
		t.Error(err)
	}
	p.Stop(os.Interrupt, time.Minute)
	p.Stop(os.Interrupt, time.Minute)
}

// TestDeaf checks that a process that ignores a signal is killed.
func TestDeaf(t *testing.T) {
	p, err := Start(exec.Command("sh", "-c", "trap '' INT; echo ready; while :; do sleep 1; done"), filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	err = p.Await(t.Context(), func() error {
		if p.Log() != "ready\n" {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Stop(os.Interrupt, time.Millisecond)
	if err := p.Await(t.Context(), func() error { return errors.New("no answer") }); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
}
