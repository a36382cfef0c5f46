package suites

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/rabbitmq"
)

// needAlarms are the test classes of amqp-client that need a resource alarm.
var needAlarms = []string{"BlockedConnection", "MemoryAlarms"}

// startControlled starts the broker under test for a suite that calls rabbitmqctl. It listens on
// ownPort without a proxy, because the suite finds its connections by their client ports, and on
// the machine's other addresses as well, because the suite logs in through one.
func startControlled(t *testing.T, name string) (server, error) {
	t.Helper()
	if err := awaitPorts(ownPort); err != nil {
		return server{}, err
	}
	outward, err := outwardAddresses()
	if err != nil {
		return server{}, err
	}
	addrs := append([]string{"127.0.0.1:" + ownPort}, outward...)
	if name != failsOnFiveways {
		var settings []string
		for i, addr := range outward {
			settings = append(settings, fmt.Sprintf("listeners.tcp.%d = %s", i+2, addr))
		}
		n, err := rabbitmq.Serve(rabbitmq.Options{AMQP: portNumber(ownPort), Settings: settings})
		if err != nil {
			return server{}, err
		}
		t.Cleanup(n.Close)
		return server{addr: addrs[0], ctl: withoutHeaders(n.Ctl)}, nil
	}
	s := server{addr: addrs[0]}
	node := &standIn{
		binary: brokertest.Binary(t), flags: []string{"--amqp", strings.Join(addrs, ","), "--amqp-product", "RabbitMQ", "--disk-free-limit", diskFreeLimit},
		alarms: map[string]bool{},
	}
	switch node.disk, err = brokertest.SmallDisk(t, diskSize); {
	case errors.Is(err, brokertest.ErrNoMount):
		t.Logf("without alarms: %v", err)
		node.disk, node.flags, s.without = t.TempDir(), node.flags[:4], needAlarms
	case err != nil:
		return server{}, err
	}
	node.data = filepath.Join(node.disk, "data")
	if err := node.start(t.Context()); err != nil {
		return server{}, err
	}
	t.Cleanup(func() { node.broker.Kill() }) // which the suite may have restarted
	s.ctl = node.ctl
	return s, nil
}

// withoutHeaders makes -q mean what it did when the suite was written: lists without a header line.
func withoutHeaders(run ctl) ctl {
	return func(args ...string) (string, error) {
		if i := slices.Index(args, "-q"); i >= 0 {
			args[i] = "--silent"
		}
		return run(args...)
	}
}

// outwardAddresses returns ownPort on each IPv4 address of this machine but loopback.
func outwardAddresses() ([]string, error) {
	links, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var addrs []string
	for _, link := range links {
		if link.Flags&net.FlagUp == 0 || link.Flags&net.FlagLoopback != 0 {
			continue
		}
		nets, err := link.Addrs()
		if err != nil {
			return nil, err
		}
		for _, n := range nets {
			if ip, ok := n.(*net.IPNet); ok && ip.IP.To4() != nil {
				addrs = append(addrs, net.JoinHostPort(ip.IP.String(), ownPort))
			}
		}
	}
	return addrs, nil
}
