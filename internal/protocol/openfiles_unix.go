//go:build unix

package protocol

import "syscall"

// openFiles returns how many files and connections this process may have open.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<30))
}
