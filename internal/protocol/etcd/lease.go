package etcd

import (
	"context"
	"errors"
	"io"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/lease"
)

// leaseService implements the service Lease.
type leaseService struct {
	pb.UnimplementedLeaseServer
	srv *Server
}

// LeaseGrant grants a lease. If the request has no ID, the store chooses one.
func (l *leaseService) LeaseGrant(ctx context.Context, r *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error) {
	if _, err := l.srv.identify(ctx); err != nil {
		return nil, err
	}
	if err := l.srv.room(); err != nil {
		return nil, err
	}
	resp, err := l.srv.keys.LeaseGrant(ctx, r)
	return completed(l.srv, resp, err)
}

// LeaseRevoke revokes a lease and deletes its keys.
func (l *leaseService) LeaseRevoke(ctx context.Context, r *pb.LeaseRevokeRequest) (*pb.LeaseRevokeResponse, error) {
	who, err := l.srv.identify(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.srv.mayEndLease(who, lease.LeaseID(r.ID)); err != nil {
		return nil, reply(err)
	}
	if err := l.srv.virtual.mayEndLease(who, r.ID); err != nil {
		return nil, err
	}
	resp, err := l.srv.keys.LeaseRevoke(ctx, r)
	if err == nil {
		l.srv.virtual.awaitLeaseEnd(ctx, r.ID)
	}
	return completed(l.srv, resp, err)
}

// LeaseTimeToLive returns the remaining time of a lease, -1 if it does not exist, and its keys.
func (l *leaseService) LeaseTimeToLive(ctx context.Context, r *pb.LeaseTimeToLiveRequest) (*pb.LeaseTimeToLiveResponse, error) {
	who, err := l.srv.identify(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := l.srv.keys.LeaseTimeToLive(ctx, r)
	switch {
	case errors.Is(err, lease.ErrLeaseNotFound):
		resp = &pb.LeaseTimeToLiveResponse{Header: &pb.ResponseHeader{}, ID: r.ID, TTL: -1}
	case err != nil:
		return nil, reply(err)
	}
	if r.Keys && err == nil {
		resp.Keys = append(resp.Keys, l.srv.virtual.leaseKeys(who, r.ID)...)
	}
	l.srv.complete(resp.Header)
	return resp, nil
}

// LeaseLeases lists the leases.
func (l *leaseService) LeaseLeases(ctx context.Context, r *pb.LeaseLeasesRequest) (*pb.LeaseLeasesResponse, error) {
	if _, err := l.srv.identify(ctx); err != nil {
		return nil, err
	}
	resp, err := l.srv.keys.LeaseLeases(ctx, r)
	return completed(l.srv, resp, err)
}

// LeaseKeepAlive renews a lease with every message of the client and answers with its new TTL, or 0
// if the lease does not exist.
func (l *leaseService) LeaseKeepAlive(stream pb.Lease_LeaseKeepAliveServer) error {
	over := make(chan error, 1)
	go func() { over <- l.keepAlive(stream) }()
	select {
	case err := <-over:
		return err
	case <-stream.Context().Done(): // Recv ends when this method has returned
		return stream.Context().Err()
	}
}

func (l *leaseService) keepAlive(stream pb.Lease_LeaseKeepAliveServer) (err error) {
	defer l.srv.survive(stream.Context(), pb.Lease_LeaseKeepAlive_FullMethodName, &err)
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		// The header is older than the renewal: a client that sees the lease end at a later
		// revision knows that this renewal came before.
		resp := &pb.LeaseKeepAliveResponse{Header: l.srv.keys.Header(), ID: r.ID}
		ctx, err := l.srv.admit(stream.Context(), pb.Lease_LeaseKeepAlive_FullMethodName) // permissions may change
		if err != nil {
			return err
		}
		ttl, err := l.srv.keys.LeaseRenew(ctx, lease.LeaseID(r.ID))
		switch {
		case err == nil:
			resp.TTL = ttl
		case !errors.Is(err, lease.ErrLeaseNotFound):
			return reply(err)
		}
		if err := stream.Send(resp); err != nil {
			return err
		}
	}
}
