package daemon

import (
	"os/exec"
	"syscall"
)

// endsWithUs makes a program end when this process does.
func endsWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
