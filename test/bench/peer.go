package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	name       string
	version    string           // as the server reports it; "" until it has run
	command    command          // of a broker for the cases of AMQP
	servers    map[part]starter // for the cases that measure a server
	management managementStarter
	disk       func(context.Context, benchCase, settings) (values, error)
	close      func() // releases what its brokers shared; may be nil
}

// command returns the process of a broker: data and configuration in dir, AMQP on 127.0.0.1:port,
// guest/guest allowed. Its process id must stay the broker's, so no shell may remain in between.
type command func(dir string, port int) (*exec.Cmd, error)

// serves reports whether a case runs on the peer.
func (p *peer) serves(c benchCase) bool {
	if p.name == nameFloor && !c.floor {
		return false
	}
	switch c.part {
	case partAMQP:
		return p.command != nil
	case partManagement:
		return p.management != nil
	case partDisk:
		return p.disk != nil
	}
	return p.servers[c.part] != nil
}

// columnsOf returns the names of the peers of a case that can be used.
func columnsOf(c benchCase, peers []*peer) (names []string) {
	for _, p := range peers {
		if p.serves(c) && p.name != nameFloor {
			names = append(names, p.name)
		}
	}
	return slices.Clip(names)
}

// fiveways returns the peer under test. If binary is "", it builds the binary from this module into
// dir, as it is released: another build has other sizes.
func fiveways(binary, dir string) (*peer, error) {
	if binary == "" {
		binary = filepath.Join(dir, "fiveways")
		root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
		if err != nil {
			return nil, fmt.Errorf("bench: find the module: %w", err)
		}
		build := exec.Command("make", "-C", strings.TrimSpace(string(root)), "build", "BINARY="+binary)
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
	p := &peer{name: name, command: serveCommand(binary, nil)}
	p.servers = map[part]starter{
		partSQL:       starterOf(p, binary, "sql"),
		partJobs:      starterOf(p, binary, "redis"),
		partEtcd:      starterOf(p, binary, "etcd"),
		partSemaphore: starterOf(p, binary, "redis", "sql"),
	}
	p.management = oursForManagement(p, binary)
	return p
}

// serveCommand starts `fiveways serve` with AMQP and with the listeners in on, by their flags.
func serveCommand(binary string, on map[string]string, more ...string) command {
	return func(dir string, port int) (*exec.Cmd, error) {
		args := []string{"serve", "--data", filepath.Join(dir, "data"), "--amqp", fmt.Sprintf("127.0.0.1:%d", port)}
		for _, listener := range []string{"sql", "redis", "etcd", "http", "metrics"} {
			args = append(args, "--"+listener, cmp.Or(on[listener], "off"))
		}
		return exec.Command(binary, append(args, more...)...), nil
	}
}

// freeAddresses returns unused addresses on loopback.
func freeAddresses(n int) (addresses []string, err error) {
	for range n {
		port, err := daemon.FreePort()
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return addresses, nil
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
