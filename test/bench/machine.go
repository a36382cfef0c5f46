package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine describes the machine of a run.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory string `json:"memory"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
}

func thisMachine() machine {
	return machine{
		CPU:    procField("/proc/cpuinfo", "model name"),
		Cores:  runtime.NumCPU(),
		Memory: procField("/proc/meminfo", "MemTotal"),
		Kernel: firstLine("/proc/sys/kernel/osrelease"),
		Go:     runtime.Version(),
	}
}

func (m machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s memory, Linux %s, %s", m.CPU, m.Cores, m.Memory, m.Kernel, m.Go)
}

// procField returns the first value of a field in a "name : value" file, or "unknown" if there is
// none.
func procField(file, name string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func firstLine(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}
