package redisd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	startPatience = 30 * time.Second
	startPoll     = 10 * time.Millisecond
)

// Options say what server is wanted.
type Options struct {
	Sync     string   // appendfsync: "always" or "everysec" keep what was written in an append-only file; "" keeps nothing
	Settings []string // further ones as on the command line: "--maxmemory", "1gb", say
}

// Server is a running Redis.
type Server struct {
	port int
	dir  string
	opts Options
	cmd  *exec.Cmd
	gone chan struct{} // closed once the process has ended
	stop sync.Once
}

// Start returns the host:port of a server that ends with the test. Without Redis the test is skipped, but fails with CI=true.
func Start(t testing.TB, o Options) string {
	t.Helper()
	s, err := Open(o)
	switch {
	case errors.Is(err, ErrNone) && os.Getenv("CI") != "true":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("Redis:\n%s", s.Log())
		}
		s.Close()
	})
	return s.Addr()
}

// Open starts a server. With CI=true it first installs Redis where it is missing; the error is ErrNone where there is none.
func Open(o Options) (*Server, error) {
	if os.Getenv("CI") == "true" {
		var output bytes.Buffer
		if err := Install(&output); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, output.Bytes())
		}
	}
	if _, err := exec.LookPath(program); err != nil {
		return nil, ErrNone
	}
	dir, err := os.MkdirTemp("", "redisd")
	if err != nil {
		return nil, fmt.Errorf("redisd: %w", err)
	}
	s := &Server{dir: dir, opts: o, gone: make(chan struct{})}
	if err := s.start(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) start() (err error) {
	if s.port, err = freePort(); err != nil {
		return err
	}
	args := []string{"--bind", "127.0.0.1", "--port", strconv.Itoa(s.port), "--dir", s.dir, "--save", "", "--daemonize", "no"}
	if s.opts.Sync != "" {
		args = append(args, "--appendonly", "yes", "--appendfsync", s.opts.Sync)
	}
	s.cmd = command(program, append(args, s.opts.Settings...)...)
	log, err := os.Create(s.logName())
	if err != nil {
		s.cmd = nil
		return fmt.Errorf("redisd: %w", err)
	}
	defer log.Close() // the process has its own
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		return fmt.Errorf("redisd: %w", err)
	}
	go func() {
		s.cmd.Wait() //nolint:errcheck // the log says why it ended
		close(s.gone)
	}()
	return s.answers()
}

// answers waits until the server does.
func (s *Server) answers() error {
	tick := time.NewTicker(startPoll)
	defer tick.Stop()
	late := time.After(startPatience)
	for {
		if s.ping() {
			return nil
		}
		select {
		case <-tick.C:
		case <-s.gone:
			return fmt.Errorf("redisd: the server has ended\n%s", s.Log())
		case <-late:
			return fmt.Errorf("redisd: the server does not answer\n%s", s.Log())
		}
	}
}

func (s *Server) ping() bool {
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second)) //nolint:errcheck // then it waits for the answer
	reply := make([]byte, len("+PONG"))
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return false
	}
	_, err = io.ReadFull(conn, reply)
	return err == nil && string(reply) == "+PONG"
}

// Addr is host:port.
func (s *Server) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// PID is the process id of the server.
func (s *Server) PID() int { return s.cmd.Process.Pid }

func (s *Server) logName() string { return filepath.Join(s.dir, "log") }

// Log is what the server wrote.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.logName())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Close kills the server and removes its folder.
func (s *Server) Close() {
	s.stop.Do(func() {
		if s.cmd != nil {
			s.cmd.Process.Kill() //nolint:errcheck // it may have ended
			<-s.gone
		}
		os.RemoveAll(s.dir) //nolint:errcheck // a temporary folder
	})
}

var versionText = regexp.MustCompile(`v=(\S+)`)

// Version is that of the Redis that is installed.
func Version() (string, error) {
	out, err := exec.Command(program, "--version").Output() // Redis server v=7.0.15 sha=00000000:0 malloc=…
	if err != nil {
		return "", ErrNone
	}
	m := versionText.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("redisd: no version in %q", out)
	}
	return string(m[1]), nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("redisd: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
