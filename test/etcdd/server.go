package etcdd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"fiveways/test/daemon"
)

const (
	startPatience = 30 * time.Second
	startTries    = 3 // another program may have taken a port
)

// Server is a running etcd.
type Server struct {
	addr     string
	dir      string
	settings []string
	process  *daemon.Process
}

// Start returns the host:port of a server that ends with the test. Settings are further flags. Without etcd the test is skipped, but fails
// with CI=true.
func Start(t testing.TB, settings ...string) string {
	t.Helper()
	s, err := Open(settings...)
	switch {
	case errors.Is(err, ErrNone) && os.Getenv("CI") != "true":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("etcd:\n%s", s.Log())
		}
		s.Close()
	})
	return s.Addr()
}

// Open starts a server. With CI=true it first installs etcd where it is missing; the error is ErrNone where there is none.
func Open(settings ...string) (*Server, error) {
	if os.Getenv("CI") == "true" {
		var output bytes.Buffer
		if err := Install(&output); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, output.Bytes())
		}
	}
	program, err := Program()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "etcdd")
	if err != nil {
		return nil, fmt.Errorf("etcdd: %w", err)
	}
	s := &Server{dir: dir, settings: settings}
	for range startTries {
		if err = s.start(program); !errors.Is(err, daemon.ErrEnded) {
			break
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(program string) error {
	clients, err := daemon.FreePort()
	if err != nil {
		return fmt.Errorf("etcdd: %w", err)
	}
	peers, err := daemon.FreePort()
	if err != nil {
		return fmt.Errorf("etcdd: %w", err)
	}
	s.addr = fmt.Sprintf("127.0.0.1:%d", clients)
	url, peer := "http://"+s.addr, fmt.Sprintf("http://127.0.0.1:%d", peers)
	data := filepath.Join(s.dir, "data")
	os.RemoveAll(data) //nolint:errcheck // of a try that failed
	args := []string{
		"--name", "default", "--data-dir", data, "--listen-client-urls", url, "--advertise-client-urls", url, "--listen-peer-urls", peer,
		"--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer, "--logger", "zap", "--log-level", "error",
	}
	cmd := command(program, append(args, s.settings...)...)
	cmd.Dir = s.dir
	if s.process, err = daemon.Start(cmd, filepath.Join(s.dir, "log")); err != nil {
		return fmt.Errorf("etcdd: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	if err := s.process.Await(ctx, s.healthy); err != nil {
		return fmt.Errorf("etcdd: %w", err)
	}
	return nil
}

// healthy tells whether it has elected itself and serves.
func (s *Server) healthy() error {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	reply, err := client.Get("http://" + s.addr + "/health")
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("the answer is %s", reply.Status)
	}
	return nil
}

// Addr is host:port for clients.
func (s *Server) Addr() string { return s.addr }

// PID is the process id of the server.
func (s *Server) PID() int { return s.process.PID() }

// Log is what the server wrote.
func (s *Server) Log() string { return s.process.Log() }

// Close kills the server and removes its folder. It may be called again.
func (s *Server) Close() {
	if s.process != nil {
		s.process.Stop(os.Kill, startPatience)
	}
	os.RemoveAll(s.dir) //nolint:errcheck // a temporary folder
}

var versionText = regexp.MustCompile(`etcd Version: (\S+)`)

// Version is that of the etcd that is installed.
func Version() (string, error) {
	program, err := Program()
	if err != nil {
		return "", err
	}
	out, err := exec.Command(program, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("etcdd: %w", err)
	}
	m := versionText.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("etcdd: no version in %q", out)
	}
	return string(m[1]), nil
}
