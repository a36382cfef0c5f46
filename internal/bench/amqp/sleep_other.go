//go:build !linux

package amqp

import "time"

func preciseThread() {}

func preciseSleep(d time.Duration) { time.Sleep(d) }
