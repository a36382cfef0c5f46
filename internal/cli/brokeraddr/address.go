package brokeraddr

import (
	"context"
	"net"
	"os"
	"strconv"

	"fiveways.dev/fiveways/internal/cli/brokerapi"
	"fiveways.dev/fiveways/internal/config"
)

// addressOf is where the broker of the configuration serves a protocol, "" when it does not. The
// broker that runs on the data folder is asked: brokers of one machine differ in that, and may have
// the same addresses in their configuration. An address that is configured counts where no folder
// is, or none with a broker; the default one when neither is.
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
			defer op.Close() //nolint:errcheck // it holds nothing
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

// ServedAt asks a broker for its address, "" when it does not serve the protocol. A broker over
// the network is reached at the host of its URL: its own addresses may be those of a network
// behind, or of no network.
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

// reachable is an address at which what listens there is reached from this machine.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}
