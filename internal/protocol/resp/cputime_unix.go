//go:build unix

package resp

import (
	"syscall"
	"time"
)

// cpuTime is how long this process has used processors so far, in the system and for itself.
func cpuTime() (system, user time.Duration) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	return time.Duration(u.Stime.Nano()), time.Duration(u.Utime.Nano())
}
