package rabbitmq

import (
	"errors"
	"io"
	"os"
	"os/exec"

	"fiveways.dev/fiveways/test/daemon"
)

// debianScript is the start script itself. The script in /usr/sbin changes the user and keeps a
// shell between this process and the broker.
const debianScript = "/usr/lib/rabbitmq/bin/rabbitmq-server"

// ErrNone means that no RabbitMQ is installed.
var ErrNone = errors.New("rabbitmq: no rabbitmq-server here (on Debian: apt-get install rabbitmq-server)")

// Install installs Debian's RabbitMQ with apt-get unless one exists. The output of apt-get goes to
// output.
func Install(output io.Writer) error {
	if _, err := find(); err == nil {
		return nil
	}
	return daemon.Install(output, "rabbitmq-server")
}

// find returns the path of the start script.
func find() (string, error) {
	if _, err := os.Stat(debianScript); err == nil {
		return debianScript, nil
	}
	if path, err := exec.LookPath("rabbitmq-server"); err == nil {
		return path, nil
	}
	return "", ErrNone
}
