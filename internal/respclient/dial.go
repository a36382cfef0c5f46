package respclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// dialTimeout is the timeout for all nodes together, as go-redis' is for one.
const dialTimeout = 5 * time.Second

// dialer returns a function that connects to the first node that answers, starting with a random
// one. So clients spread over the nodes, and a node that accepts and then hangs is not the only one
// tried.
func dialer(nodes []string, o *redis.Options) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: cmp.Or(o.DialTimeout, dialTimeout) / time.Duration(len(nodes))}
	connect := d.DialContext
	if o.TLSConfig != nil {
		secret := o.TLSConfig.Clone()
		secret.ServerName = "" // set to the node's name for each connection
		connect = (&tls.Dialer{NetDialer: d, Config: secret}).DialContext
	}
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		var errs []error
		first := rand.IntN(len(nodes)) // #nosec G404 -- spreads clients; no secret
		for i := range nodes {
			nc, err := connect(ctx, network, nodes[(first+i)%len(nodes)])
			if err == nil {
				return nc, nil
			}
			errs = append(errs, err)
		}
		return nil, errors.Join(errs...)
	}
}
