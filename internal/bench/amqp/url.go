package amqp

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// target is the address and the user to log in as.
type target struct {
	addr, user, password, vhost string
}

// parseURL parses amqp://user:password@host:port/vhost. The defaults of missing parts are guest,
// guest, 127.0.0.1, 5672 and the vhost "/".
func parseURL(raw string) (target, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return target{}, fmt.Errorf("amqp bench: url: %w", err)
	}
	if u.Scheme != "amqp" {
		return target{}, fmt.Errorf("amqp bench: url %q: only amqp://user:password@host:port/vhost is supported", raw)
	}
	t := target{user: "guest", password: "guest", vhost: "/"}
	host, port := u.Hostname(), u.Port()
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "5672"
	}
	t.addr = net.JoinHostPort(host, port)
	if u.User != nil {
		t.user = u.User.Username()
		t.password, _ = u.User.Password()
	}
	if path := strings.TrimPrefix(u.EscapedPath(), "/"); path != "" {
		if t.vhost, err = url.PathUnescape(path); err != nil {
			return target{}, fmt.Errorf("amqp bench: url %q: vhost: %w", raw, err)
		}
	}
	return t, nil
}

// redacted returns the URL without its password, for a result that may be kept or shown.
func redacted(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		panic("amqp bench: a validated URL does not parse: " + err.Error())
	}
	return u.Redacted()
}
