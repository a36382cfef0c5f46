// Package process measures the CPU time and memory of a process, for the benchmarks.
package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is the resource usage of a process, from Linux's /proc.
type Usage struct {
	CPU time.Duration // user and system, since the process started
	RSS int64         // resident bytes
}

// Read returns the resource usage of the process with this id on this machine.
func Read(pid int) (Usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return parseStat(string(stat), int64(os.Getpagesize()))
}

// parseStat parses fields 14 (utime), 15 (stime) and 24 (rss in pages) of proc(5). The second
// field, the program's name in parentheses, may itself contain spaces and parentheses.
func parseStat(stat string, pageBytes int64) (Usage, error) {
	const ticksPerSecond = 100 // USER_HZ, which Linux fixes at 100 for /proc on every architecture Go supports
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	var n [3]int64
	for i, field := range []int{14, 15, 24} {
		var err error
		if at := field - 3; at >= len(fields) {
			return Usage{}, fmt.Errorf("process: /proc stat has %d fields", len(fields)+2)
		} else if n[i], err = strconv.ParseInt(fields[at], 10, 64); err != nil {
			return Usage{}, fmt.Errorf("process: /proc stat: %w", err)
		}
	}
	return Usage{CPU: time.Duration(n[0]+n[1]) * time.Second / ticksPerSecond, RSS: n[2] * pageBytes}, nil
}
