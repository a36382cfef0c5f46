package clients

import (
	"bytes"
	"context"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
)

var rewriteEtcdPages = flag.Bool("rewrite-etcd-pages", false, "write what etcdctl prints into the sessions of docs/protocols/etcd*.md")

// TestEtcdPages runs the commands of each page with etcdctl on a fresh broker, and checks that they
// print what the page shows.
func TestEtcdPages(t *testing.T) {
	needEtcdctl(t)
	for _, name := range []string{"etcd.md", "etcd-auth.md", "etcd-queues.md", "etcd-semaphores.md"} {
		t.Run(name, func(t *testing.T) {
			page := "../../docs/protocols/" + name
			text, err := os.ReadFile(page)
			must(t, err)
			typed := etcdSteps(string(text))
			if len(typed) < 5 {
				t.Fatalf("found only %d steps", len(typed))
			}
			ctx, cancel := context.WithTimeout(t.Context(), scriptPatience)
			defer cancel()
			s := etcdSession{ctx: ctx, addr: brokertest.Run(t, "--etcd", "127.0.0.1:0").EtcdAddr()}
			s.play(t, typed)
			changed, end := "", 0 // the corrected page up to end
			for _, step := range typed {
				if step.printed != step.output {
					t.Errorf("%s\nprints\n%s\nand not\n%s", step.command, step.printed, step.output)
				}
				changed += string(text[end:step.at]) + step.printed
				end = step.at + len(step.output)
			}
			if *rewriteEtcdPages {
				must(t, os.WriteFile(page, []byte(changed+string(text[end:])), 0o644))
			}
		})
	}
}

// etcdStep is a command of a page, its output on the page, and what it printed now.
type etcdStep struct {
	command, output, printed string
	at                       int // position of the output in the page
}

// etcdSteps returns the commands in all ```console blocks of a page.
func etcdSteps(text string) (all []*etcdStep) {
	inside, read := false, 0
	for line := range strings.Lines(text) {
		read += len(line)
		command, typed := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = strings.HasPrefix(line, "```console")
		case inside && typed:
			all = append(all, &etcdStep{command: strings.TrimSuffix(command, "\n"), at: read})
		case inside && len(all) > 0:
			all[len(all)-1].output += line
		}
	}
	return all
}

// etcdSession runs the commands of a page.
type etcdSession struct {
	ctx  context.Context
	addr string
	ids  []string // the lease ids of the page, each followed by the broker's
}

var (
	leaseID      = regexp.MustCompile(`\b[0-9a-f]{16}\b`)
	moment       = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[0-9:.]+Z"`)
	watchesBegun = regexp.MustCompile(`(?m)^grpc_server_started_total\{.*grpc_method="Watch".*$`)

	logLine = regexp.MustCompile(`(?m)^\{"level":.*\n`)
)

// play runs the commands one after the other. A watch stays open beside the others, and its output
// is compared at the end. A read is repeated until it prints what the page shows, since a consumer
// gets its messages a moment after its watch began.
func (s *etcdSession) play(t *testing.T, typed []*etcdStep) {
	t.Helper()
	open := map[*etcdStep]*watching{}
	for _, step := range typed {
		command := strings.NewReplacer(s.ids...).Replace(step.command)
		if strings.HasPrefix(command, "etcdctl watch ") {
			open[step] = s.watch(t, command)
			continue
		}
		s.until(step, strings.HasPrefix(command, "etcdctl get "), func() string {
			out, _ := s.shell(command).CombinedOutput()
			return string(out)
		})
	}
	for step, w := range open {
		s.until(step, true, w.text)
	}
}

// until stores the output of a step. If again, it repeats print until the output is that of the
// page or ten seconds have passed.
func (s *etcdSession) until(step *etcdStep, again bool, print func() string) {
	over := time.After(10 * time.Second)
	for {
		step.printed = s.asOnPage(print(), step.output)
		if step.printed == step.output || !again {
			return
		}
		select {
		case <-over:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// asOnPage returns the output without the client's log, and with the address, ids and times of the
// page.
func (s *etcdSession) asOnPage(printed, page string) string {
	printed = logLine.ReplaceAllString(strings.ReplaceAll(printed, s.addr, "127.0.0.1:2379"), "")
	for i := 0; i < len(s.ids); i += 2 {
		printed = strings.ReplaceAll(printed, s.ids[i+1], s.ids[i])
	}
	times := moment.FindAllString(page, -1)
	printed = moment.ReplaceAllStringFunc(printed, func(ours string) string {
		if len(times) == 0 {
			return ours
		}
		pages := times[0]
		times = times[1:]
		return pages
	})
	ours, pages := leaseID.FindAllString(printed, -1), leaseID.FindAllString(page, -1)
	for i := range min(len(ours), len(pages)) {
		printed = strings.Replace(printed, ours[i], pages[i], 1)
		s.ids = append(s.ids, pages[i], ours[i])
	}
	return printed
}

func (s *etcdSession) shell(command string) *exec.Cmd {
	cmd := exec.CommandContext(s.ctx, "sh", "-c", command)
	cmd.Env = append(os.Environ(), "ETCDCTL_API=3", "ETCDCTL_ENDPOINTS="+s.addr)
	return cmd
}

// watching is a running command with its output so far.
type watching struct {
	mu      sync.Mutex
	printed bytes.Buffer
}

func (w *watching) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.printed.Write(p)
}

func (w *watching) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.printed.String()
}

// watch runs a command until the test ends. It returns once the broker has the call, so that the
// watch sees what later commands change.
func (s *etcdSession) watch(t *testing.T, command string) *watching {
	t.Helper()
	w, before := &watching{}, s.watches(t)
	defer func() {
		for s.watches(t) == before {
			select {
			case <-s.ctx.Done():
				t.Fatalf("%s: the broker has no call of it; it printed %s", command, w.text())
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	cmd := s.shell("exec " + command)
	cmd.Stdout, cmd.Stderr = w, w
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return w
}

// watches returns the broker's count of watches begun.
func (s *etcdSession) watches(t *testing.T) string {
	t.Helper()
	answer, err := http.Get("http://" + s.addr + "/metrics")
	must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	return strings.Join(watchesBegun.FindAllString(string(text), -1), "\n")
}
