package oracle

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"fiveways.dev/fiveways/test/daemon"
	"fiveways.dev/fiveways/test/rabbitmq"
)

// recordedVersion is the version of RabbitMQ that the recordings come from.
const recordedVersion = "3.10."

const (
	startPatience = 90 * time.Second
	startPoll     = 50 * time.Millisecond
)

// errNoRabbit is returned when there is no RabbitMQ to compare with.
var errNoRabbit = errors.New("oracle: no RabbitMQ " + recordedVersion + "x")

// plugins are those whose exchange types Fiveways has too.
var plugins = []string{
	"rabbitmq_consistent_hash_exchange", "rabbitmq_random_exchange", "rabbitmq_recent_history_exchange", "rabbitmq_sharding",
}

// rabbit is a RabbitMQ node that was started by this package.
type rabbit struct {
	dir  string
	port int
	addr string
	kit  *rabbitmq.Kit
	node *exec.Cmd
	log  bytes.Buffer
}

// startRabbit starts a node that keeps all its data in dir. It returns errNoRabbit if the right
// version is not installed.
func startRabbit(dir string) (*rabbit, error) {
	kit, err := rabbitmq.Open()
	if errors.Is(err, rabbitmq.ErrNone) {
		return nil, fmt.Errorf("%w: %v", errNoRabbit, err)
	}
	if err != nil {
		return nil, err
	}
	r := &rabbit{dir: dir, kit: kit}
	if err := r.start(); err != nil {
		r.stop()
		return nil, fmt.Errorf("%w\n%s", err, r.log.Bytes())
	}
	return r, nil
}

func (r *rabbit) start() (err error) {
	r.port, err = daemon.FreePort()
	if err != nil {
		return err
	}
	r.addr = fmt.Sprintf("127.0.0.1:%d", r.port)
	if r.node, err = r.kit.Command(r.dir, r.port, plugins...); err != nil {
		return err
	}
	r.node.Stdout, r.node.Stderr = &r.log, &r.log
	r.node.WaitDelay = time.Second
	if err := r.node.Start(); err != nil {
		return fmt.Errorf("oracle: start rabbitmq: %w", err)
	}
	version, err := r.await()
	if err == nil && !strings.HasPrefix(version, recordedVersion) {
		return fmt.Errorf("%w: this is %s", errNoRabbit, version)
	}
	return err
}

// await waits until a client can log in, and returns the version.
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
	if r.node != nil && r.node.Process != nil {
		r.node.Process.Kill() //nolint:errcheck // it may have exited already
		r.node.Wait()         //nolint:errcheck // it was killed: the status says so
	}
	r.kit.Close()
}
