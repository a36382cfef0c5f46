package redisd

import (
	"errors"
	"io"
	"os/exec"

	"fiveways.dev/fiveways/test/daemon"
)

const program = "redis-server"

// ErrNone says that no Redis is installed.
var ErrNone = errors.New("redisd: no redis-server here (on Debian: apt-get install redis-server)")

// Install asks apt-get for Debian's Redis unless there is one. What apt-get says goes to output.
func Install(output io.Writer) error {
	if _, err := exec.LookPath(program); err == nil {
		return nil
	}
	return daemon.Install(output, "redis-server", "redis-tools")
}
