package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fiveways.dev/fiveways"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/internal/config"
)

// semaphoreBroker starts a broker and returns its folder and the URL of its HTTP API.
func semaphoreBroker(t *testing.T) (dir, url string) {
	t.Helper()
	dir = t.TempDir()
	b, err := fiveways.Start(fiveways.Options{Data: dir, AMQP: "off", HTTP: "127.0.0.1:0"})
	must(t, err)
	t.Cleanup(func() { b.Stop(context.Background()) }) //nolint:errcheck // no data to keep
	return dir, b.HTTPURL()
}

// TestSemaphoreCommands checks that the same commands work over the admin socket and over the
// network.
func TestSemaphoreCommands(t *testing.T) {
	dir, url := semaphoreBroker(t)
	for name, at := range map[string][]string{"socket": {"--data", dir}, "network": {"--url", url}} {
		t.Run(name, func(t *testing.T) {
			do := func(want int, args ...string) (stdout, stderr string) {
				t.Helper()
				stdout, stderr, code := command(t, append(append([]string{"semaphore"}, args...), at...)...)
				if code != want {
					t.Fatalf("%q: exit code %d, %s%s", args, code, stdout, stderr)
				}
				return stdout, stderr
			}
			line := func(text, first, want string) {
				t.Helper()
				if got := strings.Join(wordsOf(t, text, first), " "); !strings.HasPrefix(got, want) {
					t.Errorf("%q, want %q", got, want)
				}
			}
			key := "crowd-" + name
			do(exitcode.OK, "set", key, "--active", "1", "--try-release", "1", "--lease", "90s")
			do(exitcode.OK, "set", key, "--active", "2")
			out, _ := do(exitcode.OK, "show", key)
			line(out, "/", "/ "+key+" 2 1 desc 1m30s 0 0 0")
			out, _ = do(exitcode.OK, "enqueue", key, "1", "5")
			line(out, "1", "1 ACQUIRED 5 1")
			do(exitcode.OK, "enqueue", key, "two words", "7")
			_, hint := do(exitcode.Failure, "enqueue", key, "3", "1", "--wait", "1ms")
			if !strings.Contains(hint, "stays enqueued") {
				t.Errorf("%q", hint)
			}
			out, _ = do(exitcode.OK, "enqueue", key, "3", "6", "-o", "json")
			if !strings.HasPrefix(out, `{"task":"3","status":"WAIT","priority":6,"position":2,`) {
				t.Errorf("%s", out)
			}
			out, _ = do(exitcode.OK, "tasks", key)
			line(out, "two", "two words ACQUIRED 7 1")
			line(out, "1", "1 TRY_RELEASE 5 3")
			if out, _ = do(exitcode.OK, "tasks", key, "--status", "WAIT,TRY_RELEASE", "--limit", "1"); !strings.HasSuffix(out, "and more: see --limit\n") {
				t.Errorf("%s", out)
			}
			out, _ = do(exitcode.OK, "show", key, "1", "9")
			line(out, "9", "9 not there")
			if out, _ = do(exitcode.OK, "renew", key, "1", "3"); out != "1 renewed, 1 do not run\n" {
				t.Errorf("%q", out)
			}
			if out, _ = do(exitcode.OK, "release", key, "1", "9"); out != "1 released, 1 not there\n" {
				t.Errorf("%q", out)
			}
			if out, _ = do(exitcode.OK, "release", key, "3", "-o", "json"); out != `{"released":["3"],"missing":[]}`+"\n" {
				t.Errorf("%q", out)
			}
			out, _ = do(exitcode.OK, "list", "--contains", name)
			line(out, "/", "/ "+key+" 2 1 desc 1m30s 0 1 0")
			if out, _ = do(exitcode.OK, "list", "--vhost", "", "-o", "json"); !strings.Contains(out, `"key":"`+key+`"`) {
				t.Errorf("%s", out)
			}
			if _, hint = do(exitcode.Failure, "delete", key, "--if-empty", "--yes"); !strings.Contains(hint, "has tasks") {
				t.Errorf("%q", hint)
			}
			do(exitcode.OK, "delete", key, "--yes")
			if _, hint = do(exitcode.Failure, "show", key); !strings.Contains(hint, "no such semaphore") || !strings.Contains(hint, "semaphore list") {
				t.Errorf("%q", hint)
			}
			do(exitcode.WrongUsage, "set", key, "--order", "up")
			do(exitcode.WrongUsage, "set", key, "-o", "yaml")
			do(exitcode.WrongUsage, "enqueue", key, "1")
			do(exitcode.WrongUsage, "enqueue", key, "1", "high")
			do(exitcode.WrongUsage, "watch", "--prefix")
		})
	}
}

// TestSemaphoreOfAStoppedBroker checks that without a running broker there are no semaphores, and
// that the error has a hint.
func TestSemaphoreOfAStoppedBroker(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if _, _, code := command(t, "user", "list", "--data", dir); code != exitcode.Failure {
		t.Fatal("there is no folder")
	}
	b, err := fiveways.Start(fiveways.Options{Data: dir, AMQP: "off"})
	must(t, err)
	must(t, b.Stop(t.Context()))
	if _, hint, code := command(t, "semaphore", "list", "--data", dir); code != exitcode.Failure || !strings.Contains(hint, "fiveways serve") {
		t.Errorf("exit code %d, %s", code, hint)
	}
}

// TestURL checks the login over the network. The password is never on the command line.
func TestURL(t *testing.T) {
	dir, url := semaphoreBroker(t)
	host := strings.TrimPrefix(url, "http://")
	if code, out := operateOn(t, dir, "s3cret\n", "user", "add", "alice", "--password-stdin"); code != exitcode.OK {
		t.Fatal(out)
	}
	do := func(password string, want int, text string, args ...string) {
		t.Helper()
		t.Setenv(config.EnvPassword, password)
		stdout, stderr, code := command(t, args...)
		if code != want || !strings.Contains(stdout+stderr, text) {
			t.Errorf("%q: exit code %d, %s%s; want %d with %q", args, code, stdout, stderr, want, text)
		}
	}
	alice := "http://alice@" + host
	do("s3cret", exitcode.Failure, "permission set", "semaphore", "set", "k", "--url", alice)
	if code, out := operateOn(t, dir, "", "permission", "set", "alice", "^k$", "^k$", "^k$"); code != exitcode.OK {
		t.Fatal(out)
	}
	do("s3cret", exitcode.OK, "", "semaphore", "set", "k", "--url", alice+"/")
	do("s3cret", exitcode.OK, "k", "semaphore", "list", "--url", alice)
	do("s3cret", exitcode.Failure, "no such", "semaphore", "list", "--url", alice, "--vhost", "other")
	do("wrong", exitcode.Failure, config.EnvPassword, "semaphore", "list", "--url", alice)
	do("s3cret", exitcode.Failure, "Not administrator user", "user", "list", "--url", alice)
	do("guest", exitcode.OK, "alice", "user", "list", "--url", url)
	do("guest", exitcode.WrongUsage, "no password in --url", "semaphore", "list", "--url", "http://alice:s3cret@"+host)
	do("guest", exitcode.WrongUsage, "looks like http://", "semaphore", "list", "--url", host)
	do("guest", exitcode.WrongUsage, "looks like http://", "semaphore", "list", "--url", url+"/api")
	do("guest", exitcode.WrongUsage, "url", "semaphore", "list", "--url", url, "--data", dir)
	do("guest", exitcode.Failure, "that of HTTP is", "semaphore", "list", "--url", "http://"+noHTTP(t))
	do("guest", exitcode.Failure, "Is the server running", "semaphore", "list", "--url", "http://127.0.0.1:1")
}

// noHTTP returns the address of a server that answers as an AMQP server does.
func noHTTP(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // no data to keep
	go func() {
		if c, err := l.Accept(); err == nil {
			c.Read(make([]byte, 4<<10))             //nolint:errcheck // the client sees it
			c.Write([]byte("AMQP\x00\x00\x09\x01")) //nolint:errcheck // the client sees it
			c.Close()                               //nolint:errcheck // nothing is lost
		}
	}()
	return l.Addr().String()
}

// TestEnqueueLines checks that thousands of tasks are read from standard input. The error names an
// invalid line, and says what was enqueued before it.
func TestEnqueueLines(t *testing.T) {
	dir, _ := semaphoreBroker(t)
	run := func(stdin string, want int, text string, args ...string) {
		t.Helper()
		if code, out := operateOn(t, dir, stdin, append([]string{"semaphore"}, args...)...); code != want || !strings.Contains(out, text) {
			t.Errorf("%q: exit code %d, %s; want %d with %q", args, code, out, want, text)
		}
	}
	run("", exitcode.OK, "", "set", "k", "--active", "3")
	const tasks = 5010 // more than fit into one request
	var many strings.Builder
	for i := range tasks {
		fmt.Fprintf(&many, "task %d %d.5\n\n", i, i)
	}
	run(many.String(), exitcode.OK, fmt.Sprintf("%d enqueued, %d of them new: ", tasks, tasks), "enqueue", "k")
	run("", exitcode.OK, fmt.Sprintf("%d.5", tasks-1), "tasks", "k", "--limit", "1")
	run("a 1\nb 2\n", exitcode.OK, `{"task":"b","status":"WAIT","priority":2,`, "enqueue", "k", "-o", "json")
	run("a 1\n\nb two\n", exitcode.WrongUsage, "line 3: a priority is a number", "enqueue", "k")
	run("a\n", exitcode.WrongUsage, `line 1: "a" has no priority`, "enqueue", "k")
	run("a NaN\n", exitcode.WrongUsage, "line 1", "enqueue", "k")
	run(strings.Repeat("x", 5000), exitcode.Failure, "line 1", "enqueue", "k")
	run("a 1\n", exitcode.Failure, "lines 1 to 1: semaphore 'none'", "enqueue", "none")
	run("a\ntask 1\nnobody\n", exitcode.OK, "2 released, 1 not there", "release", "k")
	run("", exitcode.OK, "0 enqueued", "enqueue", "k")
}

// TestSemaphoreWatch checks that watch prints events until it is interrupted, which is not a
// failure.
func TestSemaphoreWatch(t *testing.T) {
	dir, url := semaphoreBroker(t)
	do := func(args ...string) {
		t.Helper()
		if _, stderr, code := command(t, append(append([]string{"semaphore"}, args...), "--url", url)...); code != exitcode.OK {
			t.Fatalf("%q: %s", args, stderr)
		}
	}
	do("set", "k", "--active", "1")
	watch := func(args ...string) (cmd *exec.Cmd, lines *bufio.Scanner, errs *bytes.Buffer) {
		t.Helper()
		cmd = program(t, append([]string{"semaphore", "watch", "--data", dir}, args...)...)
		out, err := cmd.StdoutPipe()
		must(t, err)
		errs = &bytes.Buffer{}
		cmd.Stderr = errs
		must(t, cmd.Start())
		t.Cleanup(func() { cmd.Process.Kill() }) //nolint:errcheck // it may have exited
		lines = bufio.NewScanner(out)
		return cmd, lines, errs
	}
	for _, args := range [][]string{{"k"}, nil, {"--prefix", "k"}} {
		cmd, lines, errs := watch(args...)
		lines.Scan() // the heading: the watch has begun
		do("enqueue", "k", "a", "1")
		lines.Scan()
		if at, got, _ := strings.Cut(strings.Join(strings.Fields(lines.Text()), " "), " "); !strings.HasPrefix(at, "20") || !strings.HasPrefix(got, "Acquired k a ACQUIRED 1 ") {
			t.Errorf("%q: %q at %q", args, got, at)
		}
		do("release", "k", "a")
		must(t, cmd.Process.Signal(syscall.SIGINT))
		if lines.Scan() {
			t.Errorf("%q: and %q", args, lines.Text())
		}
		if err := cmd.Wait(); err != nil || errs.Len() > 0 {
			t.Errorf("%q: %v, %s", args, err, errs)
		}
	}
	if _, stderr, code := command(t, "semaphore", "watch", "none", "--url", url); code != exitcode.Failure || !strings.Contains(stderr, "no such semaphore") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
