package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// perfTestPOM names the version of PerfTest.
//
//go:embed perftest.pom.xml
var perfTestPOM []byte

// perfTestTools must be in PATH for the cases that run PerfTest.
var perfTestTools = []string{"java", "mvn"}

// perfTestLimit is the timeout for the download of PerfTest, which happens once. Maven keeps it in
// its own folder.
const perfTestLimit = 3 * time.Minute

var errPerfTest = errors.New("bench: PerfTest")

// perfTestClassPath asks Maven for the class path of PerfTest, at the first case that needs it.
var perfTestClassPath = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fiveways-perftest-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	pom, list := filepath.Join(dir, "pom.xml"), filepath.Join(dir, "classpath")
	if err := os.WriteFile(pom, perfTestPOM, 0o644); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), perfTestLimit)
	defer cancel()
	mvn := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", pom, "dependency:build-classpath", "-Dmdep.outputFile="+list)
	if out, err := mvn.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: mvn: %w\n%s", errPerfTest, err, out)
	}
	path, err := os.ReadFile(list)
	return strings.TrimSpace(string(path)), err
})

// perfTestMetrics have the bar of five times the rate. The generator's own CPU time shows how much
// of the machine is left for a broker.
func perfTestMetrics() []metric {
	return []metric{
		{name: "sent", unit: "msg/s", more: true},
		{name: "received", unit: "msg/s", more: true, bar: timesRival(5)},
		{name: "latency p50", unit: "ms"},
		{name: "cpu", unit: "µs/msg"},
		{name: "cpu of PerfTest", unit: "µs/msg"},
	}
}

// perfTest runs RabbitMQ's own load generator, unmodified, with these arguments for the measured
// time.
func perfTest(args ...string) runner {
	return func(ctx context.Context, b *broker, s settings) (values, error) {
		path, err := perfTestClassPath()
		if err != nil {
			return nil, err
		}
		seconds := strconv.Itoa(int(s.duration.Seconds()))
		args := append([]string{"-cp", path, "com.rabbitmq.perf.PerfTest", "-h", "amqp://guest:guest@" + b.addr, "-z", seconds}, args...)
		cmd := exec.CommandContext(ctx, "java", args...)
		var out []byte
		cpu, err := cpuDuring(b.cpu, func() (err error) {
			if out, err = cmd.CombinedOutput(); err != nil {
				err = fmt.Errorf("%w: %w\n%s", errPerfTest, err, out)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		v, err := parsePerfTest(string(out))
		if err != nil {
			return nil, err
		}
		received := v["received"] * s.duration.Truncate(time.Second).Seconds()
		v["cpu"] = cpu.Seconds() * microsPerSecond / received
		v["cpu of PerfTest"] = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds() * microsPerSecond / received
		return v, nil
	}
}

// perfTestSummary matches the lines at the end of PerfTest's output. Latencies are in microseconds.
var perfTestSummary = map[string]*regexp.Regexp{
	"sent":        regexp.MustCompile(`sending rate avg: (\d+) msg/s`),
	"received":    regexp.MustCompile(`receiving rate avg: (\d+) msg/s`),
	"latency p50": regexp.MustCompile(`consumer latency min/median/75th/95th/99th \d+/(\d+)/[\d/]+ µs\s*$`),
}

// parsePerfTest reads the averages over the whole run, which are the last lines that PerfTest
// prints.
func parsePerfTest(out string) (values, error) {
	v := values{}
	for line := range strings.Lines(out) {
		for name, pattern := range perfTestSummary {
			if m := pattern.FindStringSubmatch(line); m != nil {
				v[name], _ = strconv.ParseFloat(m[1], 64) // digits only
			}
		}
	}
	v["latency p50"] /= 1000
	for name := range perfTestSummary {
		if v[name] == 0 {
			return nil, fmt.Errorf("%w: no %s in\n%s", errPerfTest, name, out)
		}
	}
	return v, nil
}
