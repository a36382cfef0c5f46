// Package process measures the CPU time and memory of a process, for the benchmarks.
package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process has used, as Linux's /proc tells.
type Usage struct {
	CPU time.Duration // user and system, since the process started
	RSS int64         // bytes resident
}

// Read tells what the process of this machine with a number has used.
func Read(pid int) (Usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return parseStat(string(stat), int64(os.Getpagesize()))
}

// parseStat reads fields 14 (utime), 15 (stime) and 24 (rss in pages) of proc(5). The second field,
// the program's name in parentheses, may hold spaces and parentheses itself.
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
