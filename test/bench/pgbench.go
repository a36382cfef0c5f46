package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/test/postgres"
)

// pgbench is PostgreSQL's own load generator with one of our scripts.
type pgbench struct {
	dsn     string
	script  string // statements, a line each
	clients int
}

// done is the result that pgbench prints.
type done struct {
	transactions int64
	rate         float64 // per second, without the time to connect
}

// run runs pgbench. end limits it: "-T" and seconds, or "-t" and transactions per client.
func (p pgbench) run(ctx context.Context, end ...string) (done, error) {
	bin, err := postgres.Bin()
	if err != nil {
		return done{}, err
	}
	dir, err := os.MkdirTemp("", "fiveways-pgbench-")
	if err != nil {
		return done{}, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "script.sql")
	if err := os.WriteFile(file, []byte(p.script), 0o644); err != nil {
		return done{}, err
	}
	args := append([]string{
		"-n", "-M", "prepared", "-f", file, "-c", strconv.Itoa(p.clients), "-j", strconv.Itoa(min(p.clients, runtime.NumCPU())),
	}, end...)
	out, err := exec.CommandContext(ctx, pgbenchProgram(bin), append(args, p.dsn)...).CombinedOutput()
	if err != nil {
		return done{}, fmt.Errorf("bench: pgbench: %w: %s", err, out[max(0, len(out)-600):])
	}
	return parsePgbench(string(out))
}

// pgbenchProgram returns the path of pgbench, which is next to the server's programs or, where a
// system installs clients elsewhere, in the PATH.
func pgbenchProgram(bin string) string {
	program := filepath.Join(bin, "pgbench")
	if _, err := os.Stat(program); err != nil {
		return "pgbench"
	}
	return program
}

var (
	pgbenchCount = regexp.MustCompile(`number of transactions actually processed: (\d+)`)
	pgbenchRate  = regexp.MustCompile(`tps = ([0-9.]+) \(without`)
)

func parsePgbench(out string) (d done, err error) {
	count, rate := pgbenchCount.FindStringSubmatch(out), pgbenchRate.FindStringSubmatch(out)
	if count == nil || rate == nil {
		return d, fmt.Errorf("bench: pgbench says %q", out)
	}
	if n := regexp.MustCompile(`number of failed transactions: ([1-9]\d*)`).FindString(out); n != "" {
		return d, fmt.Errorf("bench: pgbench: %s", strings.TrimSpace(n))
	}
	if d.transactions, err = strconv.ParseInt(count[1], 10, 64); err != nil {
		return d, err
	}
	d.rate, err = strconv.ParseFloat(rate[1], 64)
	return d, err
}
