package main

import (
	"syscall"
	"time"
)

// pause sleeps to about 0.1 ms. time.Sleep rounds up to a whole millisecond when the process is
// otherwise idle, which would turn an even pace into bursts.
func pause(d time.Duration) {
	if d <= 0 {
		return
	}
	ts := syscall.NsecToTimespec(int64(d))
	syscall.Nanosleep(&ts, nil) // ends early on a signal; the next message makes up for it
}
