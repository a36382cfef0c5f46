package tutorials

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	pagePatience  = 3 * time.Minute
	printPatience = time.Minute     // for the output of a command before the reader ends it
	newPatience   = 4 * time.Second // the same when the output is written into the page
	printPoll     = 20 * time.Millisecond
	endPatience   = 10 * time.Second
)

// player runs the steps of a page in its own folder.
type player struct {
	folder string
	env    []string
	toReal *strings.Replacer // replaces the addresses of a page by those of the test's servers
	toPage *strings.Replacer // replaces them back
}

// newPlayer returns a player. addresses has pairs of an address of the page and its replacement.
// The folders in path are searched for programs first.
func newPlayer(t *testing.T, path, env, addresses []string) *player {
	t.Helper()
	back := make([]string, 0, len(addresses))
	for i := 0; i < len(addresses); i += 2 {
		back = append(back, addresses[i+1], addresses[i])
	}
	env = append(os.Environ(), env...)
	return &player{
		folder: t.TempDir(),
		env: append(env, "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1",
			"RUBYOPT=-W0", // Debian's Sidekiq uses deprecated calls of its redis gem
			"PATH="+strings.Join(append(path, os.Getenv("PATH")), ":")),
		toReal: strings.NewReplacer(addresses...), toPage: strings.NewReplacer(back...),
	}
}

// play runs a step and returns its output in the form of the page.
func (p *player) play(t *testing.T, s *step) string {
	t.Helper()
	if s.file != "" {
		if err := os.WriteFile(filepath.Join(p.folder, s.file), []byte(p.toReal.Replace(s.content)), 0o644); err != nil {
			t.Fatal(err)
		}
		return ""
	}
	if set, exported := strings.CutPrefix(s.command, "export "); exported {
		p.env = append(p.env, p.toReal.Replace(strings.TrimSpace(set)))
		return ""
	}
	printed := p.run(t, s)
	// A consumer of the etcd API gets its messages a moment after it began.
	for over := time.Now().Add(endPatience); strings.HasPrefix(s.command, "etcdctl get ") && !matches(s.output, printed) && time.Now().Before(over); {
		printed = p.run(t, s)
	}
	if printed != "" && !strings.HasSuffix(printed, "\n") {
		printed += "\n" // bodies of the HTTP API end without one, a block of a page ends with one
	}
	return printed
}

// run runs the command of a step.
func (p *player) run(t *testing.T, s *step) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), pagePatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", p.toReal.Replace(s.command))
	cmd.Dir, cmd.Env = p.folder, p.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ^C is for all its processes
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = endPatience
	var out output
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !s.interrupted {
		cmd.Wait() //nolint:errcheck // its output shows whether that is expected
		return p.toPage.Replace(out.String())
	}
	p.await(&out, s.output)
	printed := p.toPage.Replace(out.String())
	syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) //nolint:errcheck // it may have exited already
	cmd.Wait()                                     //nolint:errcheck // it was interrupted: the status says so
	return printed
}

// await returns once the page's output was printed, or on a timeout.
func (p *player) await(out *output, shown string) {
	patience := printPatience
	if *rewrite {
		patience = newPatience
	}
	over := time.After(patience)
	for *rewrite || !matches(shown, p.toPage.Replace(out.String())) {
		select {
		case <-over:
			return
		case <-time.After(printPoll):
		}
	}
}

// output is the output of a command so far.
type output struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}
