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

// ErrEnded says that a process has ended that should serve.
var ErrEnded = errors.New("the server has ended")

// poll is how often is asked whether a server answers.
const poll = 10 * time.Millisecond

// Process is a running server.
type Process struct {
	cmd  *exec.Cmd
	log  string
	gone chan struct{} // closed once it has ended
}

// Start starts a program. What it prints goes to a file.
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
		cmd.Wait() //nolint:errcheck // the log says why it ended
		close(p.gone)
	}()
	return p, nil
}

// Await asks until there is no error. Its own is ErrEnded when the process ends first, or has that
// of the last answer when ctx does.
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

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Log is what the process has printed.
func (p *Process) Log() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Stop ends the process with a signal, and kills it when that does not end it in time. It may be
// called again.
func (p *Process) Stop(signal os.Signal, patience time.Duration) {
	p.cmd.Process.Signal(signal) //nolint:errcheck // gone already is as good
	select {
	case <-p.gone:
	case <-time.After(patience):
		p.cmd.Process.Kill() //nolint:errcheck // as above
		<-p.gone
	}
}
