package respclient

import (
	"context"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// Steady has a client ask a broker that is gone anew each time. By itself go-redis, after as many
// failures as its pool has places, answers with the last of them until a probe that it sends once a
// second finds the broker: reports fail then that would arrive. So a connection that cannot be made
// is one on which everything fails.
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

// unmade is a connection that could not be made, and why.
type unmade struct{ err error }

func (u unmade) Read([]byte) (int, error)         { return 0, u.err }
func (u unmade) Write([]byte) (int, error)        { return 0, u.err }
func (u unmade) Close() error                     { return nil }
func (u unmade) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (u unmade) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (u unmade) SetDeadline(time.Time) error      { return nil }
func (u unmade) SetReadDeadline(time.Time) error  { return nil }
func (u unmade) SetWriteDeadline(time.Time) error { return nil }
