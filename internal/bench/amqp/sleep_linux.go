package amqp

import (
	"runtime"
	"syscall"
	"time"
)

// preciseThread ties the goroutine to its thread and makes that thread wake within microseconds: by
// default Linux adds 50 µs to a sleep and Go's timers up to 1 ms, which would count as the broker's
// latency.
func preciseThread() {
	const prSetTimerSlack = 29
	runtime.LockOSThread()
	// Without the finer timer the load still runs, only less evenly: nothing to report.
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, 1, 0)
}

func preciseSleep(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // an interrupted sleep is short; the caller looks at the clock again
}
