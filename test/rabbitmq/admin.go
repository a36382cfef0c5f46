package rabbitmq

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
)

// ErrNoAdmin means that rabbitmqadmin cannot be run here.
var ErrNoAdmin = errors.New("rabbitmq: no rabbitmqadmin, or no python3, here (on Debian: apt-get install rabbitmq-server python3)")

// adminTools matches the path of rabbitmqadmin on Debian. The management plugin offers it for
// download.
const adminTools = "/usr/lib/rabbitmq/lib/*/plugins/rabbitmq_management-*/priv/www/cli/rabbitmqadmin"

// Admin returns a command of the installed rabbitmqadmin for the management API at addr
// (host:port), as guest. It returns ErrNoAdmin if there is none.
func Admin(addr string, args ...string) (*exec.Cmd, error) {
	tools, err := filepath.Glob(adminTools)
	if err != nil || len(tools) == 0 {
		return nil, ErrNoAdmin
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNoAdmin, err)
	}
	return exec.Command(python, append([]string{tools[len(tools)-1], "--base-uri", "http://" + addr, "--username", "guest", "--password", "guest"}, args...)...), nil
}
