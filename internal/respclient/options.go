package respclient

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Options returns go-redis' options for a broker at an address: redis://user:password@host:port, or
// rediss:// with TLS. The path is a virtual host; an empty path and /0 mean the virtual host "/".
// The nodes of a cluster are hosts separated by commas, which are all equivalent. Commands are not
// retried, because only the caller knows whether a command that may have been executed may be
// repeated.
func Options(address string) (*redis.Options, error) {
	o, vhost, err := parse(address)
	if err != nil {
		return nil, err
	}
	if vhost != "" {
		o.OnConnect = func(ctx context.Context, cn *redis.Conn) error { return cn.Do(ctx, "SELECT", vhost).Err() }
	}
	o.MaxRetries = -1
	o.DialerRetries = 1
	o.ContextTimeoutEnabled = true
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	Steady(o)
	return o, nil
}

// parse returns the options and the virtual host of an address. The virtual host "" means "/".
func parse(address string) (o *redis.Options, vhost string, err error) {
	var nodes []string
	for one := range split(address) {
		if o, vhost, err = parseOne(one); err != nil {
			return nil, "", err
		}
		nodes = append(nodes, o.Addr)
	}
	o.Dialer = dialer(nodes, o)
	return o, vhost, nil
}

// split yields an address for each host of an address.
func split(address string) iter.Seq[string] {
	return func(yield func(string) bool) {
		scheme, rest, _ := strings.Cut(address, "://")
		authority := rest
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			authority = rest[:i]
		}
		hosts := authority[strings.LastIndex(authority, "@")+1:]
		if !strings.Contains(hosts, ",") {
			yield(address)
			return
		}
		before := scheme + "://" + strings.TrimSuffix(authority, hosts)
		for host := range strings.SplitSeq(hosts, ",") {
			if !yield(before + host + rest[len(authority):]) {
				return
			}
		}
	}
}

func parseOne(address string) (o *redis.Options, vhost string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, "", err
	}
	vhost = strings.TrimPrefix(u.Path, "/")
	if _, err := strconv.Atoi(vhost); err == nil || u.Scheme == "unix" {
		vhost = ""
	} else {
		u.Path, u.RawPath = "", ""
	}
	o, err = redis.ParseURL(u.String())
	return o, vhost, err
}
