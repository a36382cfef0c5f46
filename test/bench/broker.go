package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"fiveways.dev/fiveways/internal/bench/process"
	"fiveways.dev/fiveways/test/daemon"
)

// The timeouts for a broker to answer a handshake (including a restart with millions of messages)
// and to stop.
const (
	startLimit = 3 * time.Minute
	stopLimit  = 3 * time.Minute
)

var errStart = errors.New("bench: broker did not start")

// broker is one running process of a peer on its own data folder.
type broker struct {
	peer    *peer
	command command
	dir     string        // data, configuration and the log of its output
	env     []string      // additions to the environment
	port    int           // of AMQP; it stays the same, since the name of RabbitMQ's node contains it
	addr    string        // 127.0.0.1:port
	done    chan struct{} // closed when the process has ended

	mu  sync.Mutex // kill is called concurrently while run replaces the process
	cmd *exec.Cmd
}

// start runs a command of the peer on an empty folder and waits until it serves.
func (p *peer) start(ctx context.Context, command command, env []string) (*broker, error) {
	port, err := daemon.FreePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fiveways-bench-")
	if err != nil {
		return nil, err
	}
	b := &broker{peer: p, command: command, dir: dir, env: env, port: port, addr: fmt.Sprintf("127.0.0.1:%d", port)}
	if err := b.run(ctx); err != nil {
		b.destroy()
		return nil, err
	}
	return b, nil
}

// run starts the process and returns once an AMQP handshake succeeds.
func (b *broker) run(ctx context.Context) error {
	cmd, err := b.command(b.dir, b.port)
	if err != nil {
		return err
	}
	output, err := os.OpenFile(filepath.Join(b.dir, "output.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer output.Close()
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Env = append(cmd.Environ(), b.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // RabbitMQ has helper processes; all must go
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %s: %v", errStart, b.peer.name, err)
	}
	done := make(chan struct{})
	b.mu.Lock()
	b.cmd, b.done = cmd, done
	b.mu.Unlock()
	go func() {
		cmd.Wait() // the exit status of a killed broker says nothing
		close(done)
	}()
	return b.awaitServing(ctx)
}

func (b *broker) awaitServing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		k, err := dial(b.addr)
		if err == nil {
			b.peer.version = k.version
			return k.Close()
		}
		select {
		case <-b.done:
			return fmt.Errorf("%w: %s ended: %s", errStart, b.peer.name, b.lastOutput())
		case <-ctx.Done():
			return fmt.Errorf("%w: %s: %w after %v", errStart, b.peer.name, ctx.Err(), err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (b *broker) lastOutput() string {
	out, err := os.ReadFile(filepath.Join(b.dir, "output.log"))
	if err != nil {
		return err.Error()
	}
	return string(out[max(0, len(out)-600):])
}

func (b *broker) pid() int { return b.cmd.Process.Pid }

// cpu returns the CPU time of the broker so far.
func (b *broker) cpu() (time.Duration, error) {
	u, err := process.Read(b.pid())
	return u.CPU, err
}

// residentMB returns the resident memory of the broker in units of 10^6 bytes.
func (b *broker) residentMB() (float64, error) {
	u, err := process.Read(b.pid())
	return float64(u.RSS) / 1e6, err
}

// settledMB is residentMB after a pause without load, in which the broker can give memory back.
func (b *broker) settledMB(ctx context.Context) (float64, error) {
	if err := newCrew().wait(ctx, settleTime); err != nil {
		return 0, err
	}
	return b.residentMB()
}

// restart stops the broker gracefully and starts it again on its data. It returns the time from
// exec to serving.
func (b *broker) restart(ctx context.Context) (time.Duration, error) {
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	select {
	case <-b.done:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(stopLimit):
		return 0, fmt.Errorf("bench: %s did not stop within %v", b.peer.name, stopLimit)
	}
	start := time.Now()
	if err := b.run(ctx); err != nil {
		return 0, err
	}
	return time.Since(start), nil
}

// kill kills the process and its helpers at once. It is safe for concurrent use.
func (b *broker) kill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cmd == nil {
		return
	}
	select {
	case <-b.done: // reaped: the pid may be reused by now
	default:
		syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// destroy kills the process and removes its folder.
func (b *broker) destroy() {
	b.kill()
	if b.done != nil {
		<-b.done
	}
	os.RemoveAll(b.dir)
}
