package daemon

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// installPatience is the timeout of apt-get.
const installPatience = 5 * time.Minute

// Install installs Debian packages with apt-get, whose output goes to output.
func Install(output io.Writer, packages ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), installPatience)
	defer cancel()
	apt := exec.CommandContext(ctx, "apt-get", append([]string{"install", "-y", "--no-install-recommends"}, packages...)...)
	apt.Env = append(apt.Environ(), "DEBIAN_FRONTEND=noninteractive")
	apt.Stdout, apt.Stderr = output, output
	if err := apt.Run(); err != nil {
		return fmt.Errorf("apt-get install: %w", err)
	}
	return nil
}
