package redisd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"fiveways/test/daemon"
)

const (
	startPatience = 30 * time.Second
	startTries    = 3 // another program may have taken the port
)

// Options say what server is wanted.
type Options struct {
	Sync     string   // appendfsync: "always" or "everysec" keep what was written in an append-only file; "" keeps nothing
	Settings []string // further ones as on the command line: "--maxmemory", "1gb", say
}

// Server is a running Redis.
type Server struct {
	port    int
	dir     string
	opts    Options
	process *daemon.Process
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
	s := &Server{dir: dir, opts: o}
	for range startTries {
		if err = s.start(); !errors.Is(err, daemon.ErrEnded) {
			break
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) start() (err error) {
	if s.port, err = daemon.FreePort(); err != nil {
		return fmt.Errorf("redisd: %w", err)
	}
	args := []string{"--bind", "127.0.0.1", "--port", strconv.Itoa(s.port), "--dir", s.dir, "--save", "", "--daemonize", "no"}
	if s.opts.Sync != "" {
		args = append(args, "--appendonly", "yes", "--appendfsync", s.opts.Sync)
	}
	if s.process, err = daemon.Start(command(program, append(args, s.opts.Settings...)...), filepath.Join(s.dir, "log")); err != nil {
		return fmt.Errorf("redisd: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	if err := s.process.Await(ctx, s.ping); err != nil {
		return fmt.Errorf("redisd: %w", err)
	}
	return nil
}

func (s *Server) ping() error {
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second)) //nolint:errcheck // then it waits for the answer
	reply := make([]byte, len("+PONG"))
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return err
	}
	if _, err = io.ReadFull(conn, reply); err == nil && string(reply) != "+PONG" {
		err = fmt.Errorf("the answer is %q", reply)
	}
	return err
}

// Addr is host:port.
func (s *Server) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

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
