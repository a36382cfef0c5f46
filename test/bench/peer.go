package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"fiveways.dev/fiveways/test/daemon"
)

// The names of the brokers in tables.
const (
	nameOurs      = "Fiveways"
	nameRabbit    = "RabbitMQ"
	nameLavin     = "LavinMQ"
	namePostgres  = "PostgreSQL"
	nameFunctions = "PostgreSQL with the functions"
	nameRedis     = "Redis"
	nameEtcd      = "etcd"
	nameDisk      = "disk"
	nameFloor     = "floor" // the null servers, which have no column of their own
)

// peer is a kind of server that can be started, for some parts of the cases.
type peer struct {
	name    string
	version string // as the server reports it; "" until it has run
	// command returns the process to start: data and configuration in dir, AMQP on 127.0.0.1:port,
	// guest/guest allowed. Its process id must stay the broker's, so no shell may remain in
	// between.
	command    func(dir string, port int) (*exec.Cmd, error)
	sql        starter
	jobs       jobsStarter
	etcd       etcdStarter
	semaphore  semaphoreStarter
	management managementStarter
	disk       func(context.Context, benchCase, settings) (values, error)
	close      func() // releases what its brokers shared; may be nil
}

// fiveways returns the peer under test. If binary is "", it builds the binary from this module into
// dir.
func fiveways(binary, dir string) (*peer, error) {
	if binary == "" {
		binary = filepath.Join(dir, "fiveways")
		root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
		if err != nil {
			return nil, fmt.Errorf("bench: find the module: %w", err)
		}
		build := exec.Command("go", "build", "-o", binary, "./cmd/fiveways")
		build.Dir = strings.TrimSpace(string(root))
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("bench: build fiveways: %w\n%s", err, out)
		}
	}
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	return served(nameOurs, binary), nil
}

// served returns the peer for a binary with the command line of Fiveways.
func served(name, binary string) *peer {
	p := &peer{name: name, command: func(dir string, port int) (*exec.Cmd, error) {
		return exec.Command(binary, "serve", "--data", filepath.Join(dir, "data"), "--amqp", fmt.Sprintf("127.0.0.1:%d", port),
			"--sql", "off", "--redis", "off", "--etcd", "off", "--http", "off", "--metrics", "off"), nil
	}}
	p.sql = oursForSQL(p, binary)
	p.jobs = oursForJobs(p, binary)
	p.etcd = oursForEtcd(p, binary)
	p.semaphore = oursForSemaphores(p, binary)
	p.management = oursForManagement(p, binary)
	return p
}

// lavinmq returns the peer for the binary that the variable LAVINMQ names, or nil if it is not set.
func lavinmq() *peer {
	binary := os.Getenv("LAVINMQ")
	if binary == "" {
		return nil
	}
	return &peer{name: nameLavin, command: func(dir string, port int) (*exec.Cmd, error) {
		ports := make([]any, 3)
		for i := range ports {
			p, err := daemon.FreePort()
			if err != nil {
				return nil, err
			}
			ports[i] = p
		}
		// Without tcp_nodelay its confirms wait for delayed acknowledgements of the kernel, and the
		// comparison is with its best configuration.
		ini := fmt.Sprintf("[main]\ndata_dir = %s\ntcp_nodelay = true\nlog_level = error\nmetrics_http_port = %d\n"+
			"[mgmt]\nbind = 127.0.0.1\nport = %d\n[mqtt]\nbind = 127.0.0.1\nport = %d\n[amqp]\nbind = 127.0.0.1\nport = %d\n",
			append(append([]any{filepath.Join(dir, "data")}, ports...), port)...)
		file := filepath.Join(dir, "lavinmq.ini")
		if err := os.WriteFile(file, []byte(ini), 0o644); err != nil {
			return nil, err
		}
		return exec.Command(binary, "--config="+file), nil
	}}
}
