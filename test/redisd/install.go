package redisd

import (
	"errors"
	"io"
	"os/exec"

	"fiveways.dev/fiveways/test/daemon"
)

const program = "redis-server"

// ErrNone means that no Redis is installed.
var ErrNone = errors.New("redisd: no redis-server here (on Debian: apt-get install redis-server)")

// Install installs Debian's Redis with apt-get unless one exists. The output of apt-get goes to
// output.
func Install(output io.Writer) error {
	if _, err := exec.LookPath(program); err == nil {
		return nil
	}
	return daemon.Install(output, "redis-server", "redis-tools")
}
