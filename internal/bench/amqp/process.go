package amqp

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// usage is what a process has used, as Linux's /proc tells.
type usage struct {
	cpu time.Duration // user and system, since the process started
	rss int64         // bytes resident
}

func readUsage(pid int) (usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return usage{}, fmt.Errorf("amqp bench: process %d: %w", pid, err)
	}
	return parseStat(string(stat), int64(os.Getpagesize()))
}

// parseStat reads fields 14 (utime), 15 (stime) and 24 (rss in pages) of proc(5). The second field, the program's name in
// parentheses, may hold spaces and parentheses itself.
func parseStat(stat string, pageBytes int64) (usage, error) {
	const ticksPerSecond = 100 // USER_HZ, which Linux fixes at 100 for /proc on every architecture Go supports
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	var n [3]int64
	for i, field := range []int{14, 15, 24} {
		var err error
		if at := field - 3; at >= len(fields) {
			return usage{}, fmt.Errorf("amqp bench: /proc stat has %d fields", len(fields)+2)
		} else if n[i], err = strconv.ParseInt(fields[at], 10, 64); err != nil {
			return usage{}, fmt.Errorf("amqp bench: /proc stat: %w", err)
		}
	}
	return usage{cpu: time.Duration(n[0]+n[1]) * time.Second / ticksPerSecond, rss: n[2] * pageBytes}, nil
}
