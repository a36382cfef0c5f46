package etcdd

import (
	"errors"
	"io"
	"os"
	"os/exec"

	"fiveways.dev/fiveways/test/daemon"
)

// ErrNone says that no etcd is installed.
var ErrNone = errors.New("etcdd: no etcd here (on Debian: apt-get install etcd-server etcd-client; or ETCD_BIN names the program)")

// Program is the server that is started: what the variable ETCD_BIN names, else the etcd of the
// path. The error is ErrNone where there is none.
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

// Install asks apt-get for Debian's etcd and etcdctl unless there is one. What apt-get says goes to
// output.
func Install(output io.Writer) error {
	if _, err := Program(); err == nil {
		return nil
	}
	return daemon.Install(output, "etcd-server", "etcd-client")
}
