package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/cli/exitcode"

	amqp "github.com/rabbitmq/amqp091-go"
)

// asProgram makes the test binary run as fiveways, for tests that need a process: signals and
// SIGKILL.
const asProgram = "CLI_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// process is a running `fiveways serve`.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  *bufio.Reader
	stderr bytes.Buffer // to be read once the process has exited
	url    string
	dsn    string
	redis  string // address
	etcd   string // address
}

func startProcess(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0], append([]string{"serve", "--data", dir, "--amqp", "127.0.0.1:0", "--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--http", "127.0.0.1:0", "--metrics", "off"}, args...)...)}
	p.cmd.Env = append(os.Environ(), asProgram+"=1")
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	must(t, err)
	p.lines = bufio.NewReader(out)
	must(t, p.cmd.Start())
	t.Cleanup(func() { p.cmd.Process.Kill() }) // fails only if the process has exited
	p.url = "amqp://" + strings.Fields(p.until("amqp "))[1]
	p.dsn = "postgres://guest:guest@" + strings.Fields(p.until("sql "))[1] + "/fiveways"
	p.redis = strings.Fields(p.until("redis "))[1]
	p.etcd = strings.Fields(p.until("etcd "))[1]
	p.until("Stop with")
	return p
}

// until reads lines up to the one with the prefix and returns that line.
func (p *process) until(prefix string) string {
	p.t.Helper()
	for {
		line, err := p.lines.ReadString('\n')
		if err != nil {
			p.cmd.Wait()
			p.t.Fatalf("%v before a line %q; %s", err, prefix, &p.stderr)
		}
		if strings.HasPrefix(line, prefix) {
			return line
		}
	}
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// wait returns the exit code, or -1 after SIGKILL.
func (p *process) wait() int {
	p.cmd.Wait() // its error repeats the code
	return p.cmd.ProcessState.ExitCode()
}

// stop ends the process by SIGTERM.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	p.until("Stopped.")
	if code := p.wait(); code != exitcode.OK {
		p.t.Errorf("exit code %d, %s", code, &p.stderr)
	}
}

func (p *process) channel() *amqp.Channel {
	p.t.Helper()
	c, err := amqp.Dial(p.url)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() }) // the broker may be gone by then
	ch, err := c.Channel()
	if err != nil {
		p.t.Fatal(err)
	}
	return ch
}

// ready returns the number of messages in queue orders.
func (p *process) ready() int {
	p.t.Helper()
	q, err := p.channel().QueueDeclarePassive("orders", true, false, false, false, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return q.Messages
}

// fill declares queue orders with a binding and publishes three messages with confirms.
func (p *process) fill() {
	p.t.Helper()
	ch := p.channel()
	if _, err := ch.QueueDeclare("orders", true, false, false, false, nil); err != nil {
		p.t.Fatal(err)
	}
	if err := ch.QueueBind("orders", "#", "amq.topic", false, nil); err != nil {
		p.t.Fatal(err)
	}
	if err := ch.Confirm(false); err != nil {
		p.t.Fatal(err)
	}
	for _, body := range []string{"one espresso", "two espressi", "tre espressi"} {
		confirm, err := ch.PublishWithDeferredConfirm("amq.topic", "k", false, false, amqp.Publishing{DeliveryMode: 2, Body: []byte(body)})
		if err != nil {
			p.t.Fatal(err)
		}
		if !confirm.Wait() {
			p.t.Fatal("not confirmed")
		}
	}
}

// doctor runs the command on dir and checks its exit code and its output with blanks squeezed.
func doctor(t *testing.T, dir string, code int, want string) {
	t.Helper()
	stdout, stderr, got := command(t, "doctor", dir)
	if squeezed := strings.Join(strings.Fields(stdout), " "); got != code || !strings.Contains(squeezed, want) {
		t.Errorf("exit code %d, want %d and %q in\n%s%s", got, code, want, stdout, stderr)
	}
}

const ordersRow = "/ orders 3 0 36 1 1 durable queues, 3 persistent messages"

// TestDoctorOnABrokersFolder checks a data folder that is killed, torn, stopped, damaged and
// repaired.
func TestDoctorOnABrokersFolder(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, dir)
	p.fill()
	p.signal(syscall.SIGKILL)
	p.wait()
	doctor(t, dir, exitcode.OK, ordersRow)

	segment := filepath.Join(dir, "seg-0000000000000001.log")
	whole, err := os.ReadFile(segment)
	must(t, err)
	must(t, os.WriteFile(segment, append(whole, "half a fra"...), 0o600))
	doctor(t, dir, exitcode.OK, "torn end")
	doctor(t, dir, exitcode.OK, ordersRow)

	p = startProcess(t, dir) // it starts without a repair
	if n := p.ready(); n != 3 {
		t.Errorf("%d messages after SIGKILL", n)
	}
	p.stop()
	doctor(t, dir, exitcode.OK, ordersRow)

	if whole, err = os.ReadFile(segment); err != nil {
		t.Fatal(err)
	}
	whole[bytes.Index(whole, []byte("one espresso"))] ^= 0x10
	must(t, os.WriteFile(segment, whole, 0o600))
	doctor(t, dir, exitcode.Damage, "DAMAGE: seg-0000000000000001.log")
	if _, stderr, code := command(t, "serve", "--data", dir, "--amqp", "127.0.0.1:0", "--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--http", "127.0.0.1:0", "--metrics", "off"); code != exitcode.Damage || !strings.Contains(stderr, "doctor DIR --repair") {
		t.Errorf("serve on damage: exit code %d, %s", code, stderr)
	}
	stdout, stderr, code := command(t, "doctor", dir, "--repair")
	if code != exitcode.OK || !strings.Contains(stdout, "Repaired:") || !strings.Contains(stdout, "LOST: 1 messages of queue orders in /") {
		t.Errorf("repair: exit code %d\n%s%s", code, stdout, stderr)
	}
	p = startProcess(t, dir)
	got, ok, err := p.channel().Get("orders", true)
	if err != nil || !ok || string(got.Body) != "two espressi" {
		t.Errorf("after the repair: %q, %v, %v", got.Body, ok, err)
	}
	p.stop()
	doctor(t, dir, exitcode.Damage, "LOST: 1 messages of queue orders in /")
}

// TestDoctorOnADeletedSegment checks that messages whose segment is gone are damage, although the
// checkpoints cover it and a broker starts.
func TestDoctorOnADeletedSegment(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, dir)
	p.fill()
	p.stop()
	doctor(t, dir, exitcode.OK, ordersRow)
	must(t, os.Remove(filepath.Join(dir, "seg-0000000000000001.log")))
	doctor(t, dir, exitcode.Damage, "LOST: 3 messages of queue orders in /, which the log no longer has")
}

// TestDoctorOnADamagedCheckpoint checks that an unreadable checkpoint stops the broker, and that a
// repair loses nothing as long as the log goes back to its start.
func TestDoctorOnADamagedCheckpoint(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, dir)
	p.fill()
	p.stop()
	checkpoints, err := filepath.Glob(filepath.Join(dir, "ckpt-*"))
	if err != nil || len(checkpoints) != 3 { // of the definitions, of the messages, and of the keys
		t.Fatalf("checkpoints %q, %v", checkpoints, err)
	}
	for _, path := range checkpoints {
		whole, err := os.ReadFile(path)
		must(t, err)
		whole[len(whole)/2] ^= 0x10
		must(t, os.WriteFile(path, whole, 0o600))
		doctor(t, dir, exitcode.Damage, "DAMAGED")
		if _, stderr, code := command(t, "serve", "--data", dir, "--amqp", "127.0.0.1:0", "--sql", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--http", "127.0.0.1:0", "--metrics", "off"); code != exitcode.Damage {
			t.Errorf("serve on a damaged checkpoint: exit code %d, %s", code, stderr)
		}
		stdout, stderr, code := command(t, "doctor", dir, "--repair")
		if code != exitcode.OK || !strings.Contains(stdout, "Repaired:") || strings.Contains(stdout, "LOST") {
			t.Errorf("repair: exit code %d\n%s%s", code, stdout, stderr)
		}
		if _, err := os.Stat(path + ".damaged"); err != nil {
			t.Errorf("the damaged file is not kept: %v", err)
		}
		doctor(t, dir, exitcode.OK, ordersRow)
	}
	p = startProcess(t, dir)
	if n := p.ready(); n != 3 {
		t.Errorf("%d messages after the repair", n)
	}
	p.stop()
}

// deafConn is a client's socket that stops reading at some point.
type deafConn struct {
	net.Conn
	deaf   chan struct{} // closed when it stops reading
	closed chan struct{}
}

func (c deafConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	select {
	case <-c.deaf:
		<-c.closed
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func TestSecondSignalStopsAtOnce(t *testing.T) {
	const drain = time.Hour // a client that does not answer the close keeps up the drain
	p := startProcess(t, t.TempDir(), "--drain-timeout", drain.String())
	deaf, closed := make(chan struct{}), make(chan struct{})
	defer close(closed)
	_, err := amqp.DialConfig(p.url, amqp.Config{Dial: func(network, addr string) (net.Conn, error) {
		c, err := net.Dial(network, addr)
		return deafConn{c, deaf, closed}, err
	}})
	must(t, err)
	close(deaf)
	p.signal(syscall.SIGTERM)
	p.until("Draining")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitcode.Failure || !strings.Contains(p.stderr.String(), "second signal") {
		t.Errorf("exit code %d, %s", code, &p.stderr)
	}
}

// TestLogIsTheBrokersOwn checks that libraries write nothing beside the log when clients send
// invalid data.
func TestLogIsTheBrokersOwn(t *testing.T) {
	p := startProcess(t, t.TempDir())
	answer, err := http.Post("http://"+p.etcd+"/v3/lease/keepalive", "application/json", strings.NewReader("{"))
	must(t, err)
	answer.Body.Close()
	p.stop()
	for line := range strings.Lines(p.stderr.String()) {
		if !strings.HasPrefix(line, "time=") {
			t.Errorf("beside the log: %s", line)
		}
	}
}

// A hangup while the broker starts, which may take long, does not end it: a log rotation sends it
// to all brokers.
func TestHangupDuringStart(t *testing.T) {
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	cmd := exec.Command(os.Args[0], "serve", "--data", filepath.Join(dir, "data"), "--cluster-listen", "127.0.0.1:5680", "--cluster-join-file", token,
		"--amqp", "off", "--sql", "off", "--redis", "off", "--etcd", "off", "--http", "off", "--metrics", "off")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	out, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() }) // fails only if the process has exited
	log := bufio.NewReader(out)
	for line := ""; !strings.Contains(line, "waiting for a token"); {
		line, err = log.ReadString('\n')
		must(t, err)
	}
	must(t, cmd.Process.Signal(syscall.SIGHUP))
	must(t, os.WriteFile(token, []byte("no token"), 0o600)) // with which the node would go on
	rest, err := io.ReadAll(log)
	must(t, err)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() < 0 || !strings.Contains(string(rest), "token") {
		t.Errorf("%v: %s", err, rest)
	}
}
