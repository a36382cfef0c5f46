package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// userTick is the unit of CPU times in /proc/PID/stat: USER_HZ is 100 on every Linux port that Go
// runs on.
const userTick = 10 * time.Millisecond

var errProcess = errors.New("bench: cannot read the broker's process")

// cpuTime returns the user and system time of a process so far, including all its threads.
func cpuTime(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("%w: %v", errProcess, err)
	}
	return parseCPUTime(b)
}

func parseCPUTime(stat []byte) (time.Duration, error) {
	// The command name is in parentheses and may contain anything, parentheses too.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("%w: short stat %q", errProcess, stat)
	}
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%w: %v", errProcess, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * userTick, nil
}

// residentMB returns the resident memory of a process in units of 10^6 bytes.
func residentMB(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("%w: %v", errProcess, err)
	}
	return parseResidentMB(b)
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

func parseResidentMB(status []byte) (float64, error) {
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			var kib float64
			if _, err := fmt.Sscanf(rest, "%f kB", &kib); err != nil {
				return 0, fmt.Errorf("%w: %v", errProcess, err)
			}
			return kib * 1024 / 1e6, nil
		}
	}
	return 0, fmt.Errorf("%w: no VmRSS", errProcess)
}
