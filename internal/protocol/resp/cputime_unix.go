//go:build unix

package resp

import (
	"syscall"
	"time"
)

// cpuTime returns the system and user CPU time that this process has used so far.
func cpuTime() (system, user time.Duration) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	return time.Duration(u.Stime.Nano()), time.Duration(u.Utime.Nano())
}
