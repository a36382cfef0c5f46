package amqp

import (
	"runtime"
	"syscall"
	"time"
)

// preciseThread locks the goroutine to its thread and makes the thread wake up with microsecond
// precision. By default Linux adds 50 µs to a sleep, and Go's timers up to 1 ms, which would count
// as latency of the broker.
func preciseThread() {
	const prSetTimerSlack = 29
	runtime.LockOSThread()
	// Without the finer timer the load is only less even, so an error is not reported.
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, 1, 0)
}

func preciseSleep(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // if interrupted, the caller checks the clock again
}
