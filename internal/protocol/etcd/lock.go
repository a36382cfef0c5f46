package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3election"
	epb "go.etcd.io/etcd/server/v3/etcdserver/api/v3election/v3electionpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock"
	lpb "go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
)

// lockService implements the service Lock with etcd's implementation, using one client per call.
type lockService struct {
	lpb.UnimplementedLockServer
	inside *inside
}

// Lock waits for the lock and returns the key that represents it.
func (l *lockService) Lock(ctx context.Context, r *lpb.LockRequest) (*lpb.LockResponse, error) {
	return through(l.inside, ctx, func(ctx context.Context, c *clientv3.Client) (*lpb.LockResponse, error) {
		return v3lock.NewLockServer(c).Lock(ctx, r)
	})
}

// Unlock deletes the key of a lock.
func (l *lockService) Unlock(ctx context.Context, r *lpb.UnlockRequest) (*lpb.UnlockResponse, error) {
	return through(l.inside, ctx, func(ctx context.Context, c *clientv3.Client) (*lpb.UnlockResponse, error) {
		return v3lock.NewLockServer(c).Unlock(ctx, r)
	})
}

// electionService implements the service Election with etcd's implementation, using one client per
// call.
type electionService struct {
	epb.UnimplementedElectionServer
	inside *inside
}

// Campaign waits until the caller leads.
func (e *electionService) Campaign(ctx context.Context, r *epb.CampaignRequest) (*epb.CampaignResponse, error) {
	return through(e.inside, ctx, func(ctx context.Context, c *clientv3.Client) (*epb.CampaignResponse, error) {
		return v3election.NewElectionServer(c).Campaign(ctx, r)
	})
}

// Proclaim changes the leader's value.
func (e *electionService) Proclaim(ctx context.Context, r *epb.ProclaimRequest) (*epb.ProclaimResponse, error) {
	return through(e.inside, ctx, func(ctx context.Context, c *clientv3.Client) (*epb.ProclaimResponse, error) {
		return v3election.NewElectionServer(c).Proclaim(ctx, r)
	})
}

// Leader returns the current leader.
func (e *electionService) Leader(ctx context.Context, r *epb.LeaderRequest) (*epb.LeaderResponse, error) {
	return through(e.inside, ctx, func(ctx context.Context, c *clientv3.Client) (*epb.LeaderResponse, error) {
		return v3election.NewElectionServer(c).Leader(ctx, r)
	})
}

// Observe sends the leader, now and whenever it changes.
func (e *electionService) Observe(r *epb.LeaderRequest, stream epb.Election_ObserveServer) error {
	c := e.inside.client(stream.Context())
	defer c.Close() //nolint:errcheck // it only reports that it is closed
	return v3election.NewElectionServer(c).Observe(r, stream)
}

// Resign gives up the leadership.
func (e *electionService) Resign(ctx context.Context, r *epb.ResignRequest) (*epb.ResignResponse, error) {
	return through(e.inside, ctx, func(ctx context.Context, c *clientv3.Client) (*epb.ResignResponse, error) {
		return v3election.NewElectionServer(c).Resign(ctx, r)
	})
}
