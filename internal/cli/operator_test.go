package cli

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/cli/exitcode"

	amqp "github.com/rabbitmq/amqp091-go"
)

// program returns a command as a process to be started.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// operateOn runs a command as a process and returns its exit code and output.
func operateOn(t *testing.T, dir, stdin string, args ...string) (code int, output string) {
	t.Helper()
	cmd := program(t, append(args, "--data", dir)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestUsersOfARunningAndAStoppedBroker checks that the same commands work on a running broker and
// on the folder of a stopped one, and that each sees the other's changes.
func TestUsersOfARunningAndAStoppedBroker(t *testing.T) {
	dir := t.TempDir()
	do := func(stdin, want string, args ...string) {
		t.Helper()
		if code, out := operateOn(t, dir, stdin, args...); code != exitcode.OK || !strings.Contains(out, want) {
			t.Fatalf("%v: exit code %d, %s; want %q", args, code, out, want)
		}
	}
	do("first\n", "", "user", "add", "alice", "--password-stdin", "--tags", "monitoring")
	p := startProcess(t, dir)
	do("", "monitoring", "user", "list")
	if _, err := dialAs(p, "alice", "first", "/"); err == nil {
		t.Error("alice got in without a permission")
	}
	do("", "", "permission", "set", "alice", "^a", ".*", ".*")
	c, err := dialAs(p, "alice", "first", "/")
	if err != nil {
		t.Fatalf("alice with a permission: %v", err)
	}
	ch, err := c.Channel()
	must(t, err)
	if _, err := ch.QueueDeclare("a1", true, false, false, false, nil); err != nil {
		t.Errorf("declare what may be configured: %v", err)
	}
	var refused *amqp.Error
	if _, err := ch.QueueDeclare("b1", true, false, false, false, nil); !errors.As(err, &refused) || refused.Code != amqp.AccessRefused {
		t.Errorf("declare what may not be configured: %v", err)
	}
	do("second", "", "user", "password", "alice", "--password-stdin")
	if _, err := dialAs(p, "alice", "first", "/"); err == nil {
		t.Error("the old password still works")
	}
	do("", "", "vhost", "add", "other", "--description", "for tests")
	do("", "", "permission", "set", "alice", ".*", ".*", ".*", "--vhost", "other")
	if _, err := dialAs(p, "alice", "second", "other"); err != nil {
		t.Errorf("alice on the other virtual host: %v", err)
	}
	do("", "", "vhost", "limit", "other", "max-queues", "2")
	do("", "", "vhost", "trace", "other", "on")
	do("", `"tracing": true`, "vhost", "list", "-o", "json")
	do("", `"description": "for tests"`, "vhost", "list", "-o", "json")
	do("", "", "vhost", "trace", "other", "off")
	do("", "", "user", "from", "guest", "anywhere")
	do("", "", "user", "tags", "alice", "management")
	do("", "alice  management", "user", "list")
	p.signal(syscall.SIGKILL)
	p.wait()
	do("", "guest  administrator  anywhere", "user", "list")

	do("", "max-queues=2", "vhost", "list")
	do("", "^a", "permission", "list", "--user", "alice", "--vhost", "/")
	do("", `"configure": "^a"`, "permission", "list", "--user", "alice", "--vhost", "/", "-o", "json")
	do("", `"name": "alice"`, "user", "list", "-o", "json")
	do("", `"name": "other"`, "vhost", "list", "-o", "json")
	do("", "", "vhost", "delete", "other", "--yes")
	p = startProcess(t, dir)
	if _, err := dialAs(p, "alice", "second", "/"); err != nil {
		t.Errorf("alice after a restart: %v", err)
	}
	if _, err := dialAs(p, "alice", "second", "other"); err == nil {
		t.Error("the deleted virtual host is there")
	}
	p.stop()
}

// TestMessagesOfABroker checks that messages in a delayed exchange can be listed, cancelled and
// rescheduled by message id, and that a queue can be browsed.
func TestMessagesOfABroker(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, dir)
	ch := p.channel()
	must(t, ch.ExchangeDeclare("later", "x-delayed-message", true, false, false, false, amqp.Table{"x-delayed-type": "direct"}))
	_, err := ch.QueueDeclare("orders", true, false, false, false, nil)
	must(t, err)
	must(t, ch.QueueBind("orders", "k", "later", false, nil))
	must(t, ch.Confirm(false))
	publish := func(exchange, key, id string, delay int64) {
		t.Helper()
		c, err := ch.PublishWithDeferredConfirm(exchange, key, false, false, amqp.Publishing{
			MessageId: id, DeliveryMode: amqp.Persistent, Headers: amqp.Table{"x-delay": delay}, Body: []byte("body of " + id),
		})
		must(t, err)
		if !c.Wait() {
			t.Fatalf("%s was refused", id)
		}
	}
	for _, id := range []string{"one", "two", "three"} {
		publish("later", "k", id, time.Hour.Milliseconds())
	}
	publish("", "orders", "now", 0)
	publish("", "orders", "\x1b]0;pwned\a\u009b31m\x7f", 0)
	do := func(code int, want string, args ...string) {
		t.Helper()
		if got, out := operateOn(t, dir, "", args...); got != code || !strings.Contains(out, want) {
			t.Errorf("%v: exit code %d, %s; want %d with %q", args, got, out, code, want)
		}
	}
	do(exitcode.OK, "body of now", "message", "list", "orders")
	if _, out := operateOn(t, dir, "", "message", "list", "orders"); !strings.Contains(out, "pwned") || strings.ContainsAny(out, "\x1b\a\u009b\x7f") {
		t.Errorf("a message speaks to the terminal: %q", out)
	}
	do(exitcode.OK, "and more: 3 wait", "message", "scheduled", "--exchange", "later", "--limit", "2")
	do(exitcode.OK, "1 cancelled", "message", "cancel", "one", "--exchange", "later")
	do(exitcode.Failure, "no message with that id", "message", "cancel", "one", "--exchange", "later")
	do(exitcode.OK, "1 rescheduled", "message", "reschedule", "two", "+0s", "--exchange", "later")
	do(exitcode.WrongUsage, "is not a time", "message", "reschedule", "three", "tomorrow", "--exchange", "later")
	do(exitcode.WrongUsage, "queue", "message", "cancel", "three")
	do(exitcode.Failure, "no such queue", "message", "list", "none")
	publish("later", "k", "", time.Hour.Milliseconds()) // without a message id
	publish("later", "k", "", time.Hour.Milliseconds())
	_, out := operateOn(t, dir, "", "message", "scheduled", "--exchange", "later")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	idOf := func(line string) string { return strings.Fields(line)[0] }
	do(exitcode.OK, "1 cancelled", "message", "cancel", "--id", idOf(lines[len(lines)-1]), "--exchange", "later")
	do(exitcode.Failure, "no message with that id", "message", "cancel", "--id", idOf(lines[len(lines)-1]), "--exchange", "later")
	do(exitcode.OK, "1 rescheduled", "message", "reschedule", "--id", idOf(lines[len(lines)-2]), "+30m", "--exchange", "later")
	do(exitcode.OK, "1 cancelled", "message", "cancel", "--id", idOf(lines[len(lines)-2]), "--exchange", "later")
	do(exitcode.WrongUsage, "1 argument was given", "message", "cancel", "three", "--id", "1-1", "--exchange", "later")
	do(exitcode.WrongUsage, "no argument was given", "message", "cancel", "--exchange", "later")
	do(exitcode.WrongUsage, "invalid message id", "message", "cancel", "--id", "three", "--exchange", "later")
	deliveries, err := ch.Consume("orders", "", true, false, false, false, nil)
	must(t, err)
	for _, want := range []string{"now", "pwned", "two"} {
		if d := <-deliveries; !strings.Contains(d.MessageId, want) {
			t.Errorf("%s came, want %s", d.MessageId, want)
		}
	}
	p.signal(syscall.SIGKILL)
	p.wait()
	do(exitcode.OK, "three", "message", "scheduled", "--exchange", "later")
	do(exitcode.OK, "1 cancelled", "message", "cancel", "three", "--exchange", "later")
}

func dialAs(p *process, user, password, vhost string) (*amqp.Connection, error) {
	c, err := amqp.DialConfig(p.url, amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: user, Password: password}}, Vhost: vhost})
	if err == nil {
		p.t.Cleanup(func() { c.Close() }) // the broker may be gone by then
	}
	return c, err
}

func TestOperatorRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"user", "delete", "nobody", "--yes"}, exitcode.Failure, "user 'nobody': no such user"},
		{[]string{"user", "add", "alice"}, exitcode.WrongUsage, "--password-stdin"},
		{[]string{"user", "limit", "guest", "max-channels", "many"}, exitcode.WrongUsage, "a number or none"},
		{[]string{"user", "limit", "guest", "max-dreams", "1"}, exitcode.WrongUsage, "max-dreams"},
		{[]string{"permission", "set", "guest", "(", "", ""}, exitcode.WrongUsage, "regular expression"},
		{[]string{"user", "from", "guest", "mars"}, exitcode.WrongUsage, "from loopback or from anywhere"},
		{[]string{"user", "delete", "..", "--yes"}, exitcode.Failure, "user '..': no such user"},
		{[]string{"user", "tags", "."}, exitcode.Failure, "user '.': no such user"},
		{[]string{"vhost", "delete", "none", "--yes"}, exitcode.Failure, "no such virtual host"},
	} {
		if code, out := operateOn(t, dir, "", c.args...); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%v: exit code %d, %s\nwant %d with %q", c.args, code, out, c.code, c.want)
		}
	}
	if code, out := operateOn(t, dir+"/none", "", "user", "list"); code != exitcode.Failure || !strings.Contains(out, "fiveways serve") {
		t.Errorf("no folder: exit code %d, %s", code, out)
	}
}

// TestAdminSocketLeftBehind checks that a killed broker leaves its admin socket behind, that
// commands then work on the folder, and that the next broker serves its own socket.
func TestAdminSocketLeftBehind(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, dir)
	p.signal(syscall.SIGKILL)
	p.wait()
	left, err := os.Lstat(dir + "/admin.sock")
	if err != nil || left.Mode()&os.ModeSocket == 0 {
		t.Fatalf("no socket is left behind: %v", err)
	}
	if code, out := operateOn(t, dir, "", "vhost", "add", "at rest"); code != exitcode.OK {
		t.Fatalf("with nobody at the socket: exit code %d, %s", code, out)
	}
	for range 2 { // the second time, the socket left behind is one that was served
		p = startProcess(t, dir)
		if code, out := operateOn(t, dir, "", "vhost", "list"); code != exitcode.OK || !strings.Contains(out, "at rest") {
			t.Errorf("after the start: exit code %d, %s", code, out)
		}
		p.signal(syscall.SIGKILL)
		p.wait()
	}
	p = startProcess(t, dir)
	p.stop()
	if _, err := os.Lstat(dir + "/admin.sock"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after a stop in order the socket is there: %v", err)
	}
}
