package input

import (
	"errors"
	"io"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPasswordInterrupted: Ctrl-C at the question for a password leaves a terminal with its echo.
func TestPasswordInterrupted(t *testing.T) {
	user := terminal(t)
	fd := int(os.Stdin.Fd())
	echoes := func() bool {
		state, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		return err != nil || state.Lflag&unix.ECHO != 0
	}
	go func() {
		for echoes() {
			runtime.Gosched()
		}
		unix.Kill(os.Getpid(), unix.SIGINT) //nolint:errcheck // else the test never ends
	}()
	if _, err := askPassword(io.Discard, fd, "Password: "); !errors.Is(err, errInterrupted) {
		t.Error(err)
	}
	if !echoes() {
		t.Error("the terminal does not echo")
	}
	if _, err := user.WriteString("\n"); err != nil { // lets the reader go
		t.Fatal(err)
	}
}
