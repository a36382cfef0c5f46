package keyspace

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/auth"
)

type userKey struct{}

// WithUser returns a context in which requests are those of a user, as of a revision of the roles. It counts while auth is enabled.
func WithUser(ctx context.Context, user *auth.AuthInfo) context.Context {
	return context.WithValue(ctx, userKey{}, user)
}

// UserOf returns the user a context carries; an empty one when there is none.
func UserOf(ctx context.Context) *auth.AuthInfo {
	if user, ok := ctx.Value(userKey{}).(*auth.AuthInfo); ok && user != nil {
		return user
	}
	return &auth.AuthInfo{}
}

func (s *Store) requestHeader(ctx context.Context) *pb.RequestHeader {
	user := UserOf(ctx)
	return &pb.RequestHeader{Username: user.Username, AuthRevision: user.Revision}
}

// asRoot is the context of what the store does by itself.
func (s *Store) asRoot() context.Context {
	if !s.auth.IsAuthEnabled() {
		return context.Background()
	}
	return WithUser(context.Background(), &auth.AuthInfo{Username: "root", Revision: s.auth.Revision()})
}

// permitted runs a read of the user of ctx: check before, and the roles must not have changed when it is over.
func (s *Store) permitted(ctx context.Context, check func(*auth.AuthInfo) error, read func() error) error {
	user := UserOf(ctx)
	if err := check(user); err != nil {
		return err
	}
	if err := read(); err != nil {
		return err
	}
	if user.Revision != 0 && user.Revision != s.auth.Revision() {
		return auth.ErrAuthOldRevision
	}
	return nil
}

// knownUser fails for a context without user while auth is enabled.
func (s *Store) knownUser(ctx context.Context) error {
	if s.auth.IsAuthEnabled() && UserOf(ctx).Username == "" {
		return auth.ErrUserEmpty
	}
	return nil
}
