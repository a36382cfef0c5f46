package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const (
	startPatience = 90 * time.Second
	startTries    = 3 // another program may have taken a port
)

// Server is a running server with its own folder.
type Server struct {
	dir     string
	process *Process
}

// Serve creates a folder, starts the command that command returns for it (the log is in the folder
// too), and waits until ready succeeds. A server that exits before that is started again, with the
// ports that command then chooses. Errors begin with name.
func Serve(name string, command func(dir string) (*exec.Cmd, error), ready func() error) (*Server, error) {
	dir, err := os.MkdirTemp("", name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &Server{dir: dir}
	for range startTries {
		if err = s.start(command, ready); !errors.Is(err, ErrEnded) {
			break
		}
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func (s *Server) start(command func(dir string) (*exec.Cmd, error), ready func() error) error {
	cmd, err := command(s.dir)
	if err != nil {
		return err
	}
	cmd.Dir = s.dir
	endsWithUs(cmd)
	if s.process, err = Start(cmd, filepath.Join(s.dir, "log")); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	return s.process.Await(ctx, ready)
}

// Dir returns the server's folder.
func (s *Server) Dir() string { return s.dir }

// PID returns the process id of the server.
func (s *Server) PID() int { return s.process.PID() }

// Log returns the output of the server.
func (s *Server) Log() string { return s.process.Log() }

// Close kills the server and removes its folder. It may be called repeatedly.
func (s *Server) Close() {
	if s.process != nil {
		s.process.Stop(os.Kill, startPatience)
	}
	os.RemoveAll(s.dir) //nolint:errcheck // a temporary folder
}

// ForTest returns a server that open starts, and that ends with the test. If open returns the error
// none, which means that the program is not installed, the test is skipped, but fails with CI=true.
func ForTest[S interface {
	Log() string
	Close()
}](t testing.TB, open func() (S, error), none error) S {
	t.Helper()
	s, err := open()
	switch {
	case errors.Is(err, none) && os.Getenv("CI") != "true":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log of %T:\n%s", s, s.Log())
		}
		s.Close()
	})
	return s
}

// FreeAddress returns 127.0.0.1 with a FreePort.
func FreeAddress(t testing.TB) string {
	t.Helper()
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint("127.0.0.1:", port)
}
