package etcdd

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/daemon"
)

// Server is a running etcd.
type Server struct {
	*daemon.Server
	addr string
}

// Start returns the host:port of a server that ends with the test. Settings are further flags.
// Without etcd the test is skipped, but fails with CI=true.
func Start(t testing.TB, settings ...string) string {
	t.Helper()
	return daemon.ForTest(t, func() (*Server, error) { return Open(settings...) }, ErrNone).Addr()
}

// Open starts a server. With CI=true it first installs etcd if it is missing. It returns ErrNone if
// there is none.
func Open(settings ...string) (*Server, error) {
	if os.Getenv("CI") == "true" {
		var output bytes.Buffer
		if err := Install(&output); err != nil {
			return nil, fmt.Errorf("etcdd: %w\n%s", err, output.Bytes())
		}
	}
	program, err := Program()
	if err != nil {
		return nil, err
	}
	s := &Server{}
	s.Server, err = daemon.Serve("etcdd", func(dir string) (*exec.Cmd, error) { return s.command(dir, program, settings) }, s.healthy)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// command returns the command of a server with an empty store and free ports.
func (s *Server) command(dir, program string, settings []string) (*exec.Cmd, error) {
	clients, err := daemon.FreePort()
	if err != nil {
		return nil, err
	}
	peers, err := daemon.FreePort()
	if err != nil {
		return nil, err
	}
	s.addr = fmt.Sprintf("127.0.0.1:%d", clients)
	url, peer := "http://"+s.addr, fmt.Sprintf("http://127.0.0.1:%d", peers)
	data := filepath.Join(dir, "data")
	if err := os.RemoveAll(data); err != nil { // of a failed attempt
		return nil, err
	}
	args := []string{
		"--name", "default", "--data-dir", data, "--listen-client-urls", url, "--advertise-client-urls", url, "--listen-peer-urls", peer,
		"--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer, "--logger", "zap", "--log-level", "error",
	}
	return exec.Command(program, append(args, settings...)...), nil
}

// healthy reports whether the server has elected itself and serves.
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

// Addr returns the host:port for clients.
func (s *Server) Addr() string { return s.addr }

var versionText = regexp.MustCompile(`etcd Version: (\S+)`)

// Version returns the version of the installed etcd.
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
