package oracle

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
)

// debianRabbit is the start script itself: the one in /usr/sbin changes the user and keeps a shell between us and the broker.
const debianRabbit = "/usr/lib/rabbitmq/bin/rabbitmq-server"

// recordedVersion is the RabbitMQ that the recordings are of.
const recordedVersion = "3.10."

const (
	installPatience = 3 * time.Minute
	startPatience   = 90 * time.Second
	startPoll       = 50 * time.Millisecond
)

var errNoRabbit = errors.New("oracle: no rabbitmq-server")

// rabbit is a RabbitMQ node of our own, with a port mapper of its own: the one of the system is neither used nor left behind.
type rabbit struct {
	addr       string
	log        bytes.Buffer
	node, epmd *exec.Cmd
}

// startRabbit starts a node that keeps all it has in dir. The error is errNoRabbit where there is none to start.
func startRabbit(dir string) (*rabbit, error) {
	script, err := findRabbit()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	epmdPort, err := freePort()
	if err != nil {
		return nil, err
	}
	conf := fmt.Sprintf("listeners.tcp.1 = 127.0.0.1:%d\nlog.console = true\nlog.console.level = error\nlog.file = false\n", port)
	err = errors.Join(
		os.WriteFile(filepath.Join(dir, "rabbitmq.conf"), []byte(conf), 0o644),
		os.WriteFile(filepath.Join(dir, "enabled_plugins"), []byte("[rabbitmq_consistent_hash_exchange].\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "env.conf"), nil, 0o644))
	if err != nil {
		return nil, fmt.Errorf("oracle: start rabbitmq: %w", err)
	}
	r := &rabbit{addr: fmt.Sprintf("127.0.0.1:%d", port)}
	r.epmd = exec.Command("epmd", "-port", fmt.Sprint(epmdPort), "-address", "127.0.0.1")
	if err := r.epmd.Start(); err != nil {
		return nil, fmt.Errorf("oracle: start epmd: %w", err)
	}
	r.node = exec.Command(script)
	r.node.Env = append(os.Environ(),
		"HOME="+dir, // the Erlang cookie
		fmt.Sprintf("ERL_EPMD_PORT=%d", epmdPort),
		"RABBITMQ_NODENAME=oracle-"+fmt.Sprint(port)+"@localhost",
		"RABBITMQ_CONF_ENV_FILE="+filepath.Join(dir, "env.conf"),
		"RABBITMQ_CONFIG_FILE="+filepath.Join(dir, "rabbitmq.conf"),
		"RABBITMQ_ENABLED_PLUGINS_FILE="+filepath.Join(dir, "enabled_plugins"),
		"RABBITMQ_MNESIA_BASE="+filepath.Join(dir, "mnesia"),
		"RABBITMQ_LOG_BASE="+filepath.Join(dir, "log"),
		"RUNNING_UNDER_SYSTEMD=true") // the script then becomes the broker instead of waiting for it
	r.node.Stdout, r.node.Stderr = &r.log, &r.log
	r.node.WaitDelay = time.Second
	if err := r.node.Start(); err != nil {
		r.stop()
		return nil, fmt.Errorf("oracle: start rabbitmq: %w", err)
	}
	version, err := r.await()
	if err == nil && !strings.HasPrefix(version, recordedVersion) {
		err = fmt.Errorf("%w of version %sx, the one that the recordings are of: this is %s", errNoRabbit, recordedVersion, version)
	}
	if err != nil {
		r.stop()
		return nil, fmt.Errorf("%w\n%s", err, r.log.Bytes())
	}
	return r, nil
}

// await returns the version once a client can log in.
func (r *rabbit) await() (version string, err error) {
	tick := time.NewTicker(startPoll)
	defer tick.Stop()
	for deadline := time.Now().Add(startPatience); time.Now().Before(deadline); <-tick.C {
		p, err := dial("A", r.addr)
		if err != nil {
			continue
		}
		answers := p.login(nil)
		p.nc.Close()
		if last := answers[len(answers)-1]; last.text == "connection.open-ok" {
			return p.version, nil
		}
	}
	return "", errors.New("oracle: rabbitmq does not serve")
}

// stop kills what was started.
func (r *rabbit) stop() {
	for _, cmd := range []*exec.Cmd{r.node, r.epmd} {
		if cmd != nil && cmd.Process != nil {
			cmd.Process.Kill() //nolint:errcheck // gone already is as good
			cmd.Wait()         //nolint:errcheck // it was killed: the status says so
		}
	}
}

// findRabbit looks for RabbitMQ; in a build that may, it asks apt-get for it.
func findRabbit() (string, error) {
	for range 2 {
		if _, err := os.Stat(debianRabbit); err == nil {
			return debianRabbit, nil
		}
		if path, err := exec.LookPath("rabbitmq-server"); err == nil {
			return path, nil
		}
		if os.Getenv("CI") != "true" || os.Getuid() != 0 {
			break
		}
		ctx, cancel := context.WithTimeout(context.Background(), installPatience)
		apt := exec.CommandContext(ctx, "apt-get", "install", "-y", "--no-install-recommends", "rabbitmq-server")
		apt.Env = append(apt.Environ(), "DEBIAN_FRONTEND=noninteractive")
		err := apt.Run()
		cancel()
		if err != nil {
			return "", fmt.Errorf("%w, and apt-get: %v", errNoRabbit, err)
		}
	}
	return "", errNoRabbit
}

func freePort() (int, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("oracle: free port: %w", err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port, nil
}
