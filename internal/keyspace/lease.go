package keyspace

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/lease"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/internal/keyspace/grants"
)

// revokesAtOnce is how many expired leases are revoked concurrently, as in etcd.
const revokesAtOnce = 16

// LeaseGrant grants a lease. If the ID is 0, the store chooses one.
func (s *Store) LeaseGrant(ctx context.Context, r *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error) {
	if err := s.room(r); err != nil {
		return nil, err
	}
	for r.ID == int64(lease.NoLease) {
		r.ID = rand.Int64() // #nosec G404 -- an ID, as in etcd; permissions are checked
	}
	return proposed[*pb.LeaseGrantResponse](s, ctx, &pb.InternalRaftRequest{LeaseGrant: r})
}

// LeaseRevoke revokes a lease and deletes its keys.
func (s *Store) LeaseRevoke(ctx context.Context, r *pb.LeaseRevokeRequest) (*pb.LeaseRevokeResponse, error) {
	return proposed[*pb.LeaseRevokeResponse](s, ctx, &pb.InternalRaftRequest{LeaseRevoke: r})
}

// LeaseRenew restarts a lease and returns its TTL in seconds. It is not recorded: after a start
// every lease has its full TTL.
func (s *Store) LeaseRenew(ctx context.Context, id lease.LeaseID) (ttl int64, err error) {
	err = s.permitted(ctx,
		func(who *grants.Info) error { return s.grants.MayEndLease(who, id, s.etcd().le) },
		func() error {
			ttl, err = s.etcd().le.Renew(id)
			return err
		})
	return ttl, err
}

// LeaseTimeToLive returns the remaining time of a lease, and its keys on request.
func (s *Store) LeaseTimeToLive(ctx context.Context, r *pb.LeaseTimeToLiveRequest) (answer *pb.LeaseTimeToLiveResponse, err error) {
	err = s.permitted(ctx,
		func(who *grants.Info) error {
			if !r.Keys {
				return s.grants.MayAnything(who)
			}
			return s.grants.MayReadLease(who, lease.LeaseID(r.ID), s.etcd().le)
		},
		func() error {
			answer, err = s.timeToLive(r)
			return err
		})
	return answer, err
}

func (s *Store) timeToLive(r *pb.LeaseTimeToLiveRequest) (*pb.LeaseTimeToLiveResponse, error) {
	l := s.etcd().le.Lookup(lease.LeaseID(r.ID))
	if l == nil {
		return nil, lease.ErrLeaseNotFound
	}
	answer := &pb.LeaseTimeToLiveResponse{Header: &pb.ResponseHeader{}, ID: r.ID, TTL: int64(l.Remaining().Seconds()), GrantedTTL: l.TTL()}
	if r.Keys {
		for _, key := range l.Keys() {
			answer.Keys = append(answer.Keys, []byte(key))
		}
	}
	return answer, nil
}

// LeaseLeases lists all leases, the one that ends first at the beginning.
func (s *Store) LeaseLeases(ctx context.Context, _ *pb.LeaseLeasesRequest) (answer *pb.LeaseLeasesResponse, err error) {
	all := s.etcd().le.Leases()
	err = s.permitted(ctx,
		func(who *grants.Info) error { return s.grants.MayReadLeases(who, all) },
		func() error {
			answer = &pb.LeaseLeasesResponse{Header: s.Header()}
			for _, l := range all {
				answer.Leases = append(answer.Leases, &pb.LeaseStatus{ID: int64(l.ID)})
			}
			return nil
		})
	return answer, err
}

// revokeExpired records the revocation of expired leases. The lessor finds them and limits their
// number per second.
func (s *Store) revokeExpired(le lease.Lessor) {
	for {
		select {
		case <-s.stop:
			return
		case expired := <-le.ExpiredLeasesC():
			s.revokeAll(expired)
		}
	}
}

func (s *Store) revokeAll(expired []*lease.Lease) {
	var all sync.WaitGroup
	slots := make(chan struct{}, revokesAtOnce)
	for _, l := range expired {
		slots <- struct{}{}
		all.Add(1)
		go func() {
			defer func() { <-slots; all.Done() }()
			_, err := s.LeaseRevoke(context.Background(), &pb.LeaseRevokeRequest{ID: int64(l.ID)})
			if err != nil && !errors.Is(err, lease.ErrLeaseNotFound) {
				s.lg.Warn("an expired lease was not revoked", zap.Int64("lease", int64(l.ID)), zap.Error(err))
			}
		}()
	}
	all.Wait()
}
