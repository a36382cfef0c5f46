package respclient

import (
	"context"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// Steady makes a client dial an unreachable broker for every command. By default go-redis returns
// the last dial error, after as many failures as its pool has connections, until a probe once a
// second finds the broker; then reports fail that would have arrived. To prevent that, a failed
// dial returns a connection on which everything fails.
func Steady(o *redis.Options) {
	dial := o.Dialer
	if dial == nil {
		dial = redis.NewDialer(o)
	}
	o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := dial(ctx, network, address)
		if err != nil {
			return unmade{err}, nil
		}
		return nc, nil
	}
}

// unmade is the connection that replaces one that could not be made, with the reason.
type unmade struct{ err error }

func (u unmade) Read([]byte) (int, error)         { return 0, u.err }
func (u unmade) Write([]byte) (int, error)        { return 0, u.err }
func (u unmade) Close() error                     { return nil }
func (u unmade) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (u unmade) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (u unmade) SetDeadline(time.Time) error      { return nil }
func (u unmade) SetReadDeadline(time.Time) error  { return nil }
func (u unmade) SetWriteDeadline(time.Time) error { return nil }
