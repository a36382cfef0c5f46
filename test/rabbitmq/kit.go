package rabbitmq

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"fiveways.dev/fiveways/test/daemon"
)

const (
	mapperPatience = 10 * time.Second
	mapperPoll     = 10 * time.Millisecond
	ctlPatience    = 60 * time.Second
)

// Kit is what nodes need to start: an installed RabbitMQ and a running port mapper.
type Kit struct {
	script   string
	epmd     *exec.Cmd
	epmdPort int
}

// Open finds RabbitMQ and starts a port mapper for later nodes. It returns ErrNone if there is
// none.
func Open() (*Kit, error) {
	script, err := find()
	if err != nil {
		return nil, err
	}
	port, err := daemon.FreePort()
	if err != nil {
		return nil, err
	}
	k := &Kit{script: script, epmdPort: port}
	k.epmd = exec.Command("epmd", "-port", fmt.Sprint(port), "-address", "127.0.0.1")
	if err := k.epmd.Start(); err != nil {
		return nil, fmt.Errorf("rabbitmq: start epmd: %w", err)
	}
	tick := time.NewTicker(mapperPoll)
	defer tick.Stop()
	for deadline := time.Now().Add(mapperPatience); time.Now().Before(deadline); <-tick.C {
		if n, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return k, n.Close()
		}
	}
	k.Close()
	return nil, errors.New("rabbitmq: epmd does not listen")
}

// Close ends the port mapper. It does not end the nodes.
func (k *Kit) Close() {
	k.epmd.Process.Kill() //nolint:errcheck // it may have exited already
	k.epmd.Wait()         //nolint:errcheck // it was killed: the status says so
}

// Command returns the command of a node with the given plugins that serves AMQP on 127.0.0.1:port
// and has all its files in dir. Its process becomes the broker itself.
func (k *Kit) Command(dir string, port int, plugins ...string) (*exec.Cmd, error) {
	distribution, err := daemon.FreePort()
	if err != nil {
		return nil, err
	}
	conf := fmt.Sprintf("listeners.tcp.1 = 127.0.0.1:%d\nlog.console = true\nlog.console.level = error\nlog.file = false\n", port)
	err = errors.Join(
		os.WriteFile(filepath.Join(dir, "rabbitmq.conf"), []byte(conf), 0o644),
		os.WriteFile(filepath.Join(dir, "enabled_plugins"), []byte("["+strings.Join(plugins, ",")+"].\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "env.conf"), nil, 0o644))
	if err != nil {
		return nil, fmt.Errorf("rabbitmq: configure: %w", err)
	}
	cmd := exec.Command(k.script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"HOME="+dir, // the Erlang cookie
		"ERL_CRASH_DUMP="+filepath.Join(dir, "erl_crash.dump"),
		fmt.Sprintf("ERL_EPMD_PORT=%d", k.epmdPort),
		fmt.Sprintf("RABBITMQ_DIST_PORT=%d", distribution), // another node may use the default
		"RABBITMQ_NODENAME="+nodeName(port),
		"RABBITMQ_CONF_ENV_FILE="+filepath.Join(dir, "env.conf"),
		"RABBITMQ_CONFIG_FILE="+filepath.Join(dir, "rabbitmq.conf"),
		"RABBITMQ_ENABLED_PLUGINS_FILE="+filepath.Join(dir, "enabled_plugins"),
		"RABBITMQ_MNESIA_BASE="+filepath.Join(dir, "mnesia"),
		"RABBITMQ_LOG_BASE="+filepath.Join(dir, "log"),
		"RUNNING_UNDER_SYSTEMD=true") // the script then becomes the broker instead of waiting for it
	return cmd, nil
}

// nodeName returns the name of a node. It has a fixed length, since recorded answers contain it.
func nodeName(port int) string { return fmt.Sprintf("rabbit-%05d@localhost", port) }

// Ctl runs rabbitmqctl on the node of Command(dir, port) and returns its output.
func (k *Kit) Ctl(dir string, port int, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), ctlPatience)
	defer cancel()
	tool := filepath.Join(filepath.Dir(k.script), "rabbitmqctl") // beside the start script, and like it without a change of user
	cmd := exec.CommandContext(ctx, tool, append([]string{"--node", nodeName(port)}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+dir, fmt.Sprintf("ERL_EPMD_PORT=%d", k.epmdPort), "RABBITMQ_CONF_ENV_FILE="+filepath.Join(dir, "env.conf"))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("rabbitmq: rabbitmqctl %s: %w\n%s%s", strings.Join(args, " "), err, out, &errs)
	}
	return string(out), nil
}
