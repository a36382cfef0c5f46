package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/bench/process"
)

// userTick is the unit of CPU times in /proc/PID/stat: USER_HZ is 100 on every Linux port that Go
// runs on.
const userTick = 10 * time.Millisecond

var errProcess = errors.New("bench: cannot read the server's process")

// cpuDuring returns the CPU time that passes by a clock of it while f runs.
func cpuDuring(clock func() (time.Duration, error), f func() error) (time.Duration, error) {
	before, err := clock()
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	after, err := clock()
	return after - before, err
}

// microsEach returns the CPU time for each of n things, in µs.
func microsEach(cpu time.Duration, n int64) float64 {
	return float64(cpu) / float64(time.Microsecond) / float64(max(n, 1))
}

// usage is what a server has used so far.
type usage struct {
	cpu    time.Duration
	memory float64 // MB
}

func oneUsage(pid int) (usage, error) {
	u, err := process.Read(pid)
	return usage{u.CPU, float64(u.RSS) / 1e6}, err
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

// folderMB returns the size of all files of a folder in units of 10^6 bytes.
func folderMB(dir string) (float64, error) {
	var bytes int64
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // the broker may remove files meanwhile
			return nil
		}
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return float64(bytes) / 1e6, err
}
