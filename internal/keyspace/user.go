package keyspace

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/auth"

	"fiveways.dev/fiveways/internal/keyspace/grants"
)

type whoKey struct{}

// WithWho returns a context for requests of a user. Without it requests are the server's own, which
// may do everything.
func WithWho(ctx context.Context, who grants.Info) context.Context {
	return context.WithValue(ctx, whoKey{}, &who)
}

// whoOf returns the user of a request, or nil for the server itself.
func whoOf(ctx context.Context) *grants.Info {
	who, _ := ctx.Value(whoKey{}).(*grants.Info)
	return who
}

// requestHeader returns the header that records the user in an entry, or nil for the server itself.
func requestHeader(ctx context.Context) *pb.RequestHeader {
	who := whoOf(ctx)
	if who == nil {
		return nil
	}
	return &pb.RequestHeader{Username: who.Username, AuthRevision: who.Revision}
}

// permitted executes a read for the user of ctx. It checks the permission before, and fails if the
// roles have changed during the read.
func (s *Store) permitted(ctx context.Context, check func(*grants.Info) error, read func() error) error {
	who := whoOf(ctx)
	if who == nil || !s.grants.Enabled() {
		return read()
	}
	if err := check(who); err != nil {
		return err
	}
	if err := read(); err != nil {
		return err
	}
	if who.Revision != 0 && who.Revision != s.grants.Revision() {
		return auth.ErrAuthOldRevision
	}
	return nil
}

// everybody is the store of roles for etcd's appliers: it allows everything. Package grants has
// checked the permission before.
type everybody struct{ auth.AuthStore }

func (everybody) IsPutPermitted(*auth.AuthInfo, []byte) error                 { return nil }
func (everybody) IsRangePermitted(*auth.AuthInfo, []byte, []byte) error       { return nil }
func (everybody) IsDeleteRangePermitted(*auth.AuthInfo, []byte, []byte) error { return nil }
func (everybody) IsAdminPermitted(*auth.AuthInfo) error                       { return nil }
