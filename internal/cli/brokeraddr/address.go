package brokeraddr

import (
	"context"
	"net"
	"os"
	"strconv"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/config"
)

// addressOf returns the configured broker's address for a protocol, or "" if it does not serve the
// protocol. It asks the broker that runs on the data folder, because brokers of one machine differ
// in their folders and may have the same configured addresses. If there is no folder with a running
// broker, the configured address counts, otherwise the default one.
func addressOf(ctx context.Context, key, file, data string) (string, error) {
	src := config.Sources{File: file, Env: os.Environ(), Flags: map[string]string{}}
	if data != "" {
		src.Flags["data"] = data
	}
	cfg, origins, err := config.Load(src)
	if err != nil {
		return "", err
	}
	addresses := cfg.Listen(key)
	address, folder := origins[key] != "default", origins["data"] != "default"
	if folder || !address {
		op, err := brokerapi.OfFolder(cfg)
		if err == nil {
			defer op.Close() //nolint:errcheck // there is nothing to lose
			return ServedAt(ctx, op, key)
		}
		if data != "" || folder && !address {
			return "", err
		}
	}
	if len(addresses) == 0 {
		return "", nil
	}
	return reachable(addresses[0]), nil
}

// ServedAt asks a broker for its address for a protocol, or returns "" if the protocol is not
// served. A remote broker is reached at the host of its URL, since its own addresses may be those
// of an internal network.
func ServedAt(ctx context.Context, op *brokerapi.Client, key string) (string, error) {
	var ways []struct {
		Protocol string `json:"protocol"`
		Address  string `json:"address"`
		Port     int    `json:"port"`
	}
	if err := op.Do(ctx, "GET", brokerapi.Path("listeners"), nil, &ways); err != nil {
		return "", err
	}
	for _, w := range ways {
		if w.Protocol != key {
			continue
		}
		if op.Host != "" {
			return net.JoinHostPort(op.Host, strconv.Itoa(w.Port)), nil
		}
		return reachable(net.JoinHostPort(w.Address, strconv.Itoa(w.Port))), nil
	}
	return "", nil
}

// reachable returns an address at which a listener on address is reachable from this machine.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}
