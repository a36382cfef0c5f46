package brokertest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/bench/process"
)

// startPatience is how long a broker may take from exec to its address line, recovery of its log
// included.
const startPatience = 60 * time.Second

// stopPatience is how long a broker may take to drain after SIGTERM.
const stopPatience = 30 * time.Second

// addressLine matches the line that `fiveways serve` prints for each protocol once all are served.
// lastLine follows.
var addressLine = regexp.MustCompile(`^(amqp|sql|redis|etcd|http|metrics)\s.*?(127\.0\.0\.1:\d+)`)

const lastLine = "Stop with "

// Broker is a running fiveways process.
type Broker struct {
	cmd    *exec.Cmd
	addrs  map[string]string // by protocol
	log    tail
	exited chan struct{} // closed once the process is gone; err may be read then
	err    error
}

// Start runs `fiveways serve` on the folder dir with AMQP on a free port and every other listener
// off, and returns once it serves. args are further flags. The error includes the output of the
// process.
func Start(ctx context.Context, dir string, args ...string) (*Broker, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	return StartBinary(ctx, path, dir, args...)
}

// StartBinary is Start with another binary.
func StartBinary(ctx context.Context, path, dir string, args ...string) (*Broker, error) {
	flags := []string{"serve", "--data", dir, "--amqp", "127.0.0.1:0", "--sql", "off", "--redis", "off", "--etcd", "off", "--http", "off", "--metrics", "off"}
	b := &Broker{cmd: exec.Command(path, append(flags, args...)...), exited: make(chan struct{})}
	b.cmd.Stderr = &b.log
	stdout, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("brokertest: start: %w", err)
	}
	if err := b.cmd.Start(); err != nil {
		return nil, fmt.Errorf("brokertest: start: %w", err)
	}

	addresses := make(chan map[string]string, 1)
	go func() {
		lines := bufio.NewScanner(stdout)
		served := map[string]string{}
		for lines.Scan() {
			fmt.Fprintln(&b.log, lines.Text())
			if m := addressLine.FindStringSubmatch(lines.Text()); m != nil && served != nil {
				served[m[1]] = m[2]
			}
			if strings.HasPrefix(lines.Text(), lastLine) && served != nil {
				addresses <- served
				served = nil
			}
		}
		b.err = b.cmd.Wait()
		close(b.exited)
	}()

	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	select {
	case b.addrs = <-addresses:
		return b, nil
	case <-b.exited:
		return nil, fmt.Errorf("brokertest: start: exited early: %v\n%s", b.err, b.Log())
	case <-ctx.Done():
		b.Kill()
		return nil, fmt.Errorf("brokertest: start: no address line: %w\n%s", ctx.Err(), b.Log())
	}
}

// Run starts a broker on a temporary folder and kills it when the test ends. If the test fails, it
// logs the broker's output.
func Run(t testing.TB, args ...string) *Broker {
	t.Helper()
	b, err := Start(context.Background(), t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.Kill()
		if t.Failed() {
			t.Logf("broker:\n%s", b.Log())
		}
	})
	return b
}

// URL returns AMQP_URL when it is set, and otherwise the URL of a broker started by Run.
func URL(t testing.TB) string {
	t.Helper()
	if url := os.Getenv("AMQP_URL"); url != "" {
		return url
	}
	return Run(t).URL()
}

// URL returns the AMQP URL of the broker, as user guest in vhost "/".
func (b *Broker) URL() string { return "amqp://guest:guest@" + b.Addr() + "/%2f" }

// Addr returns the host:port on which AMQP is served.
func (b *Broker) Addr() string { return b.addrs["amqp"] }

// SQLAddr returns the host:port of the PostgreSQL protocol, if it is on (--sql 127.0.0.1:0).
func (b *Broker) SQLAddr() string { return b.addrs["sql"] }

// RedisAddr returns the host:port of the Redis protocol, if it is on (--redis 127.0.0.1:0).
func (b *Broker) RedisAddr() string { return b.addrs["redis"] }

// EtcdAddr returns the host:port of the etcd API, if it is on (--etcd 127.0.0.1:0).
func (b *Broker) EtcdAddr() string { return b.addrs["etcd"] }

// MetricsAddr returns the host:port of the metrics, if they are on (--metrics 127.0.0.1:0).
func (b *Broker) MetricsAddr() string { return b.addrs["metrics"] }

// HTTPAddr returns the host:port of the HTTP API, if it is on (--http 127.0.0.1:0).
func (b *Broker) HTTPAddr() string { return b.addrs["http"] }

// Exited returns a channel that is closed once the process is gone.
func (b *Broker) Exited() <-chan struct{} { return b.exited }

// Log returns the last part of the broker's output.
func (b *Broker) Log() string { return b.log.String() }

// Kill ends the process with SIGKILL and waits until it is gone. It may be called repeatedly.
func (b *Broker) Kill() {
	b.cmd.Process.Kill() // fails only if the process has already exited
	<-b.exited
}

// Pause makes the process hang, like a machine that swaps or whose disk does not answer.
func (b *Broker) Pause() error { return b.cmd.Process.Signal(syscall.SIGSTOP) }

// Continue ends a Pause.
func (b *Broker) Continue() error { return b.cmd.Process.Signal(syscall.SIGCONT) }

// Hangup sends SIGHUP, on which the broker reloads its certificate and reopens its audit log.
func (b *Broker) Hangup() error { return b.cmd.Process.Signal(syscall.SIGHUP) }

// Stop ends the process with SIGTERM and waits for its drain. It returns an error if the exit code
// is not 0, or if the process did not stop in time and was killed.
func (b *Broker) Stop() error {
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("brokertest: stop: %w", err)
	}
	select {
	case <-b.exited:
	case <-time.After(stopPatience):
		b.Kill()
		return fmt.Errorf("brokertest: stop: still running after %s\n%s", stopPatience, b.Log())
	}
	if b.err != nil {
		return fmt.Errorf("brokertest: stop: %w\n%s", b.err, b.Log())
	}
	return nil
}

// PeakRSS returns the peak resident memory of the process, in bytes.
func (b *Broker) PeakRSS() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("brokertest: rss: %w", err)
	}
	m := peakRSS.FindSubmatch(status)
	if m == nil {
		return 0, errors.New("brokertest: rss: no VmHWM in the status of the process")
	}
	kib, err := strconv.ParseInt(string(m[1]), 10, 64)
	return kib << 10, err
}

var peakRSS = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// RSS returns the current resident memory of the process, in bytes.
func (b *Broker) RSS() (int64, error) {
	u, err := process.Read(b.cmd.Process.Pid)
	return u.RSS, err
}

// CPU returns the CPU time of the process.
func (b *Broker) CPU() (time.Duration, error) {
	u, err := process.Read(b.cmd.Process.Pid)
	return u.CPU, err
}

// tail keeps the last part of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// maxTailBytes is how much of a broker's output is kept for a failing test.
const maxTailBytes = 64 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(p)
	if extra := t.buf.Len() - maxTailBytes; extra > 0 {
		t.buf.Next(extra)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
