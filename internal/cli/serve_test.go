package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"
)

// startServe runs serve with AMQP on a free port until the test ends, and returns the address that
// it printed.
func startServe(t *testing.T, dir string) (addr string, stop func() (string, int)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	out, in := io.Pipe()
	code := make(chan int, 1)
	var errs bytes.Buffer // to be read once serve has returned
	go func() {
		code <- Main(ctx, []string{"serve", "--data", dir, "--amqp", "127.0.0.1:0", "--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--http", "127.0.0.1:0", "--metrics", "off"}, in, &errs)
		in.Close()
	}()
	lines := bufio.NewReader(out)
	for line := ""; !strings.HasPrefix(line, "Stop with"); {
		var err error
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatalf("%v before serve was ready; exit code %d, %s", err, <-code, &errs)
		}
		if rest, ok := strings.CutPrefix(line, "amqp "); ok {
			addr = strings.Fields(rest)[0]
		}
	}
	return addr, func() (string, int) {
		cancel()
		rest, err := io.ReadAll(lines)
		must(t, err)
		return string(rest), <-code
	}
}

func TestServeUntilToldToStop(t *testing.T) {
	addr, stop := startServe(t, t.TempDir())
	c, err := net.Dial("tcp", addr)
	must(t, err)
	c.Close()
	if rest, code := stop(); code != exitcode.OK || !strings.Contains(rest, "Stopped.") {
		t.Errorf("exit code %d, printed %q", code, rest)
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Error("still listening")
	}
}

func TestServeRefusesWhatIsTaken(t *testing.T) {
	dir := t.TempDir()
	addr, stop := startServe(t, dir)
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"address": {[]string{"--data", t.TempDir(), "--amqp", addr, "--sql", "off", "--redis", "off", "--etcd", "off", "--http", "off", "--metrics", "off"}, []string{"amqp", addr, "--amqp HOST:PORT"}},
		"folder":  {[]string{"--data", dir, "--amqp", "127.0.0.1:0", "--sql", "off", "--redis", "off", "--etcd", "off", "--http", "off", "--metrics", "off"}, []string{"data", dir, "--data DIR"}},
	} {
		_, stderr, code := command(t, append([]string{"serve"}, tc.args...)...)
		if code != exitcode.InUse {
			t.Errorf("%s: exit code %d, want %d", name, code, exitcode.InUse)
		}
		for _, want := range tc.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: %q lacks %q", name, stderr, want)
			}
		}
	}
	if _, code := stop(); code != exitcode.OK {
		t.Errorf("exit code %d", code)
	}
}

func TestDemoSucceeds(t *testing.T) {
	stdout, stderr, code := command(t, "demo")
	if code != exitcode.OK || !strings.Contains(stdout, "as expected") || strings.Contains(stdout, "WRONG") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}
