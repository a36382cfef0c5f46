package etcd

import (
	"context"

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
	return through(l.inside, ctx, r, v3lock.NewLockServer, lpb.LockServer.Lock)
}

// Unlock deletes the key of a lock.
func (l *lockService) Unlock(ctx context.Context, r *lpb.UnlockRequest) (*lpb.UnlockResponse, error) {
	return through(l.inside, ctx, r, v3lock.NewLockServer, lpb.LockServer.Unlock)
}

// electionService implements the service Election with etcd's implementation, using one client per
// call.
type electionService struct {
	epb.UnimplementedElectionServer
	inside *inside
}

// Campaign waits until the caller leads.
func (e *electionService) Campaign(ctx context.Context, r *epb.CampaignRequest) (*epb.CampaignResponse, error) {
	return through(e.inside, ctx, r, v3election.NewElectionServer, epb.ElectionServer.Campaign)
}

// Proclaim changes the leader's value.
func (e *electionService) Proclaim(ctx context.Context, r *epb.ProclaimRequest) (*epb.ProclaimResponse, error) {
	return through(e.inside, ctx, r, v3election.NewElectionServer, epb.ElectionServer.Proclaim)
}

// Leader returns the current leader.
func (e *electionService) Leader(ctx context.Context, r *epb.LeaderRequest) (*epb.LeaderResponse, error) {
	return through(e.inside, ctx, r, v3election.NewElectionServer, epb.ElectionServer.Leader)
}

// Observe sends the leader, now and whenever it changes.
func (e *electionService) Observe(r *epb.LeaderRequest, stream epb.Election_ObserveServer) error {
	c := e.inside.client(stream.Context())
	defer c.Close() //nolint:errcheck // it only reports that it is closed
	return v3election.NewElectionServer(c).Observe(r, stream)
}

// Resign gives up the leadership.
func (e *electionService) Resign(ctx context.Context, r *epb.ResignRequest) (*epb.ResignResponse, error) {
	return through(e.inside, ctx, r, v3election.NewElectionServer, epb.ElectionServer.Resign)
}
