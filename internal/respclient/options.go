package respclient

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Options are what go-redis needs to reach a broker: redis://user:password@host:port, or rediss://
// with TLS. A path is a virtual host; none and /0 are the virtual host "/". Nothing is retried:
// only the caller knows whether a half-done command may be repeated.
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

// parse takes the virtual host out of an address; "" is "/".
func parse(address string) (o *redis.Options, vhost string, err error) {
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
