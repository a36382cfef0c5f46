package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// debianScript is the start script itself: the one in /usr/sbin changes the user and keeps a shell between us and the broker.
const debianScript = "/usr/lib/rabbitmq/bin/rabbitmq-server"

// installPatience is how long apt-get may take.
const installPatience = 3 * time.Minute

// ErrNone says that no RabbitMQ is installed.
var ErrNone = errors.New("rabbitmq: no rabbitmq-server here (on Debian: apt-get install rabbitmq-server)")

// Install asks apt-get for Debian's RabbitMQ unless there is one. What apt-get says goes to output.
func Install(output io.Writer) error {
	if _, err := find(); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), installPatience)
	defer cancel()
	apt := exec.CommandContext(ctx, "apt-get", "install", "-y", "--no-install-recommends", "rabbitmq-server")
	apt.Env = append(apt.Environ(), "DEBIAN_FRONTEND=noninteractive")
	apt.Stdout, apt.Stderr = output, output
	if err := apt.Run(); err != nil {
		return fmt.Errorf("rabbitmq: apt-get install: %w", err)
	}
	return nil
}

// find returns the start script.
func find() (string, error) {
	if _, err := os.Stat(debianScript); err == nil {
		return debianScript, nil
	}
	if path, err := exec.LookPath("rabbitmq-server"); err == nil {
		return path, nil
	}
	return "", ErrNone
}
