package redisd

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/daemon"
)

// Options are the options of a server.
type Options struct {
	Sync     string   // appendfsync: "always" or "everysec" enable an append-only file; "" disables persistence
	Settings []string // further settings as on the command line, such as "--maxmemory", "1gb"
}

// Server is a running Redis.
type Server struct {
	*daemon.Server
	port int
}

// Start returns the host:port of a server that ends with the test. Without Redis the test is
// skipped, but fails with CI=true.
func Start(t testing.TB, o Options) string {
	t.Helper()
	return daemon.ForTest(t, func() (*Server, error) { return Open(o) }, ErrNone).Addr()
}

// Open starts a server. With CI=true it first installs Redis if it is missing. It returns ErrNone
// if there is none.
func Open(o Options) (*Server, error) {
	if os.Getenv("CI") == "true" {
		var output bytes.Buffer
		if err := Install(&output); err != nil {
			return nil, fmt.Errorf("redisd: %w\n%s", err, output.Bytes())
		}
	}
	if _, err := exec.LookPath(program); err != nil {
		return nil, ErrNone
	}
	s := &Server{}
	var err error
	s.Server, err = daemon.Serve("redisd", func(dir string) (*exec.Cmd, error) { return s.command(dir, o) }, s.ping)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Server) command(dir string, o Options) (_ *exec.Cmd, err error) {
	if s.port, err = daemon.FreePort(); err != nil {
		return nil, err
	}
	args := []string{"--bind", "127.0.0.1", "--port", strconv.Itoa(s.port), "--dir", dir, "--save", "", "--daemonize", "no"}
	if o.Sync != "" {
		args = append(args, "--appendonly", "yes", "--appendfsync", o.Sync)
	}
	return exec.Command(program, append(args, o.Settings...)...), nil
}

func (s *Server) ping() error {
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second)) //nolint:errcheck // without it, reads wait
	reply := make([]byte, len("+PONG"))
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return err
	}
	if _, err = io.ReadFull(conn, reply); err == nil && string(reply) != "+PONG" {
		err = fmt.Errorf("the answer is %q", reply)
	}
	return err
}

// Addr returns the host:port of the server.
func (s *Server) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

var versionText = regexp.MustCompile(`v=(\S+)`)

// Version returns the version of the installed Redis.
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
