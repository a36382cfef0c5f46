package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// owner is the user of the server process. The zero value is the current user.
type owner struct {
	other    bool
	uid, gid uint32
}

// findOwner returns the current user, or for root an unprivileged user.
func findOwner() (owner, error) {
	if os.Geteuid() != 0 {
		return owner{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(uerr, gerr); err != nil {
			return owner{}, fmt.Errorf("postgres: user %s: %w", name, err)
		}
		return owner{other: true, uid: uint32(uid), gid: uint32(gid)}, nil
	}
	return owner{}, errors.New("postgres: PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

// command returns the command to run a program as the owner. It ends when this process does.
func (o owner) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} // an immediate shutdown
	if o.other {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: o.uid, Gid: o.gid}
	}
	return cmd
}

// take changes the owner of a folder.
func (o owner) take(dir string) error {
	if !o.other {
		return nil
	}
	return os.Chown(dir, int(o.uid), int(o.gid))
}
