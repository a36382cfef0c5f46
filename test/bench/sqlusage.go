package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is what a server has used so far.
type usage struct {
	cpu    time.Duration
	memory float64 // MB
}

func oneUsage(pid int) (u usage, err error) {
	if u.cpu, err = cpuTime(pid); err != nil {
		return u, err
	}
	u.memory, err = residentMB(pid)
	return u, err
}

// familyUsage returns the usage of a process and its children. The CPU time of children that have
// exited counts, and memory that they share counts once.
func familyUsage(pid int) (u usage, err error) {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return u, err
	}
	found := false
	for _, name := range all {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has exited meanwhile
		}
		member, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(f) < 15 || member != pid && f[1] != strconv.Itoa(pid) {
			continue
		}
		times := f[11:13] // utime, stime
		if member == pid {
			found = true
			times = f[11:15] // and those of exited children
		}
		for _, text := range times {
			n, _ := strconv.ParseInt(text, 10, 64)
			u.cpu += time.Duration(n) * userTick
		}
		u.memory += sharedMB(member)
	}
	if !found {
		return u, errProcess
	}
	return u, nil
}

// sharedMB returns the memory of a process, where memory that n processes share counts as one n-th.
// It returns 0 if the process has exited.
func sharedMB(pid int) float64 {
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(rollup)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib * 1024 / 1e6
		}
	}
	return 0
}
