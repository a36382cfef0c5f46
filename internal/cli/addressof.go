package cli

import (
	"context"
	"net"
	"os"
	"strconv"

	"fiveways/internal/config"
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
		op, err := socketOperator(cfg)
		if err == nil {
			defer op.close() //nolint:errcheck // it holds nothing
			return servedAt(ctx, op, key)
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

// servedAt asks a broker for its address.
func servedAt(ctx context.Context, op *operator, key string) (string, error) {
	var ways []struct {
		Protocol string `json:"protocol"`
		Address  string `json:"address"`
		Port     int    `json:"port"`
	}
	if err := op.do(ctx, "GET", path("listeners"), nil, &ways); err != nil {
		return "", err
	}
	for _, w := range ways {
		if w.Protocol == key {
			return reachable(net.JoinHostPort(w.Address, strconv.Itoa(w.Port))), nil
		}
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
