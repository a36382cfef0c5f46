package suites

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

func TestCtlInOurWords(t *testing.T) {
	for call, want := range map[string]string{
		"add_vhost v --default-queue-type quorum":   "vhost add -- v",
		"set_permissions -p /t u c w r":             "permission set --vhost /t -- u c w r",
		"set_permissions u c w r":                   "permission set --vhost / -- u c w r",
		"clear_permissions -p /t u":                 "permission clear --vhost /t -- u",
		"set_topic_permissions -p / u x w r":        "permission topic --vhost / -- u x w r",
		"set_policy --priority 1 TTL ^q {\"a\":1}":  "policy set --vhost / --priority 1 -- TTL ^q {\"a\":1}",
		"set_user_tags guest administrator a":       "user tags -- guest administrator a",
		"trace_on":                                  "vhost trace -- / on",
		"close_connection 127.0.0.1:4000 by-a-test": "connection close --reason by-a-test -- 127.0.0.1:4000",
	} {
		c := parseCtl(strings.Fields(call))
		if got := strings.Join(c.expand(inOurWords[c.command]), " "); got != want {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
}

// controlled is a broker and the environment in which the test binary is its rabbitmqctl.
type controlled struct {
	*testing.T
	node *standIn
	env  []string
}

func (c controlled) call(args ...string) (string, error) {
	cmd := exec.Command(os.Args[0], append([]string{"-n", "rabbit@localhost"}, args...)...)
	cmd.Env = append(os.Environ(), c.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c controlled) does(args ...string) string {
	c.Helper()
	out, err := c.call(args...)
	if err != nil {
		c.Fatalf("%q: %v\n%s", args, err, out)
	}
	return out
}

func (c controlled) dial(user string) *amqp.Connection {
	c.Helper()
	conn, err := amqp.Dial("amqp://" + user + ":" + user + "@" + c.node.broker.Addr() + "/")
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { conn.Close() })
	return conn
}

func TestStandIn(t *testing.T) {
	node := &standIn{binary: brokertest.Binary(t), data: t.TempDir()}
	must(t, node.start(t.Context()))
	t.Cleanup(func() { node.broker.Kill() })
	c := controlled{T: t, node: node}
	var err error
	if c.env, err = serveCtl(t, node.ctl); err != nil {
		t.Fatal(err)
	}

	if out, err := c.call(); err == nil || !strings.Contains(out, "set_topic_permissions") {
		t.Errorf("without a command: %v\n%s", err, out)
	}
	c.does("add_user", "u", "u")
	c.does("set_permissions", "-p", "/", "u", ".*", ".*", ".*")

	conn := c.dial("u")
	_, port, _ := net.SplitHostPort(conn.LocalAddr().String())
	closed := conn.NotifyClose(make(chan *amqp.Error, 1))
	lines := strings.Split(strings.TrimSpace(c.does("list_connections", "-q", "pid", "peer_port")), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasSuffix(line, "\t"+port) })
	if i < 0 {
		t.Fatalf("no connection from port %s in %q", port, lines)
	}
	pid, _, _ := strings.Cut(lines[i], "\t")
	c.does("close_connection", pid, "by a test")
	if err := <-closed; err == nil || err.Code != amqp.ConnectionForced || !strings.Contains(err.Reason, "by a test") {
		t.Errorf("closed with %v", err)
	}

	c.does("eval", "application:set_env(rabbit, channel_max, 7).")
	if n := c.dial("u").Config.ChannelMax; n != 7 {
		t.Errorf("%d channels, want 7", n)
	}
	if out, err := c.call("eval", "halt()."); err == nil || !strings.Contains(out, "halt()") {
		t.Errorf("an expression that is not known: %v\n%s", err, out)
	}

	addr := node.broker.Addr()
	c.does("stop_app")
	if nc, err := net.Dial("tcp", addr); err == nil {
		nc.Close()
		t.Error("a stopped broker serves")
	}
	c.does("start_app")
	if n := c.dial("u").Config.ChannelMax; n != 7 {
		t.Errorf("%d channels after a start, want 7", n)
	}
}

func TestStandInAlarms(t *testing.T) {
	disk, err := brokertest.SmallDisk(t, diskSize)
	if errors.Is(err, brokertest.ErrNoMount) {
		t.Skip(err)
	}
	must(t, err)
	node := &standIn{
		binary: brokertest.Binary(t), data: filepath.Join(disk, "data"), disk: disk, alarms: map[string]bool{},
		flags: []string{"--disk-free-limit", diskFreeLimit},
	}
	must(t, node.start(t.Context()))
	t.Cleanup(func() { node.broker.Kill() })
	for i, step := range []struct {
		args  []string
		alarm bool
	}{
		{[]string{"set_vm_memory_high_watermark", "0.000000001"}, true},
		{[]string{"eval", "rabbit_alarm:set_alarm({{resource_limit, disk, node()}, []})."}, true},
		{[]string{"set_vm_memory_high_watermark", "0.4"}, true},
		{[]string{"eval", "rabbit_alarm:clear_alarm({resource_limit, disk, node()})."}, false},
	} {
		if _, err := node.ctl(step.args...); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(node.binary, "health", "--data", node.data).CombinedOutput()
		if (err != nil) != step.alarm {
			t.Errorf("step %d, %q: %s", i, step.args, out)
		}
	}
}
