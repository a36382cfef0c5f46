// Package daemon runs other servers, such as PostgreSQL or Redis, for tests and measurements that
// compare with them.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// ErrEnded means that a process that should serve has exited.
var ErrEnded = errors.New("the server has ended")

// poll is the interval between attempts to reach a server.
const poll = 10 * time.Millisecond

// Process is a running server.
type Process struct {
	cmd  *exec.Cmd
	log  string
	gone chan struct{} // closed once it has exited
}

// Start starts a program. Its output goes to a file.
func Start(cmd *exec.Cmd, log string) (*Process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the process has its own
	cmd.Stdout, cmd.Stderr = file, file
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, log: log, gone: make(chan struct{})}
	go func() {
		cmd.Wait() //nolint:errcheck // the log says why it exited
		close(p.gone)
	}()
	return p, nil
}

// Await calls ask until it succeeds. It returns ErrEnded if the process exits first, or the last
// error of ask when ctx ends.
func (p *Process) Await(ctx context.Context, ask func() error) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-p.gone:
			return fmt.Errorf("%w\n%s", ErrEnded, p.Log())
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w\n%s", err, p.Log())
		}
	}
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Log returns the output of the process.
func (p *Process) Log() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Stop ends the process with a signal, and kills it if it does not exit in time. It may be called
// repeatedly.
func (p *Process) Stop(signal os.Signal, patience time.Duration) {
	p.cmd.Process.Signal(signal) //nolint:errcheck // it may have exited already
	select {
	case <-p.gone:
	case <-time.After(patience):
		p.cmd.Process.Kill() //nolint:errcheck // as above
		<-p.gone
	}
}
