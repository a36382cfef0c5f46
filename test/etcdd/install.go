package etcdd

import (
	"errors"
	"io"
	"os"
	"os/exec"

	"fiveways.dev/fiveways/test/daemon"
)

// ErrNone means that no etcd is installed.
var ErrNone = errors.New("etcdd: no etcd here (on Debian: apt-get install etcd-server etcd-client; or ETCD_BIN names the program)")

// Program returns the server to start: the program that the variable ETCD_BIN names, otherwise the
// etcd in the path. It returns ErrNone if there is none.
func Program() (string, error) {
	name := os.Getenv("ETCD_BIN")
	if name == "" {
		name = "etcd"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", ErrNone
	}
	return path, nil
}

// Install installs Debian's etcd and etcdctl with apt-get unless they exist. The output of apt-get
// goes to output.
func Install(output io.Writer) error {
	if _, err := Program(); err == nil {
		return nil
	}
	return daemon.Install(output, "etcd-server", "etcd-client")
}
