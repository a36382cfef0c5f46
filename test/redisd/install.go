package redisd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

const program = "redis-server"

// installPatience is how long apt-get may take.
const installPatience = 3 * time.Minute

// ErrNone says that no Redis is installed.
var ErrNone = errors.New("redisd: no redis-server here (on Debian: apt-get install redis-server)")

// Install asks apt-get for Debian's Redis unless there is one. What apt-get says goes to output.
func Install(output io.Writer) error {
	if _, err := exec.LookPath(program); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), installPatience)
	defer cancel()
	apt := exec.CommandContext(ctx, "apt-get", "install", "-y", "--no-install-recommends", "redis-server", "redis-tools")
	apt.Env = append(apt.Environ(), "DEBIAN_FRONTEND=noninteractive")
	apt.Stdout, apt.Stderr = output, output
	if err := apt.Run(); err != nil {
		return fmt.Errorf("redisd: apt-get install: %w", err)
	}
	return nil
}
