package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/server/v3/lease"
)

// guest is who a client is that does not log in: from this machine, while guest has the password that everybody knows.
const guest = "guest"

// identity is who makes a call.
type identity struct {
	user     string // of the broker
	loopback bool   // from this machine
}

type identityKey struct{}

// admit finds out who makes the call of a method and keeps it in the context.
func (s *Server) admit(ctx context.Context, method string) (context.Context, error) {
	if openMethods[method] {
		return ctx, nil
	}
	who, err := s.identify(ctx)
	if err != nil {
		return nil, err
	}
	return context.WithValue(ctx, identityKey{}, who), nil
}

// openMethods are for everybody.
var openMethods = map[string]bool{
	pb.Auth_Authenticate_FullMethodName: true,
	"/grpc.health.v1.Health/Check":      true,
	"/grpc.health.v1.Health/Watch":      true,
}

// identify tells who makes the call.
func (s *Server) identify(ctx context.Context) (*identity, error) {
	if who, ok := ctx.Value(identityKey{}).(*identity); ok {
		return who, nil
	}
	loopback := isLoopback(ctx)
	if !loopback || !s.broker.Credentials(guest, loopback).Trusted {
		return nil, rpctypes.ErrGRPCUserEmpty
	}
	return &identity{user: guest, loopback: loopback}, nil
}

// mayRange tells whether who may read the keys from key to end; end is as in a RangeRequest.
func (s *Server) mayRange(who *identity, key, end []byte) error { return nil }

// mayPut tells whether who may write a key, with what the request shows of the old value and does to a lease.
func (s *Server) mayPut(who *identity, r *pb.PutRequest) error { return nil }

// mayDelete tells whether who may delete the keys of a request.
func (s *Server) mayDelete(who *identity, r *pb.DeleteRangeRequest) error { return nil }

// mayTxn tells whether who may do all that may happen in a transaction.
func (s *Server) mayTxn(who *identity, r *pb.TxnRequest) error { return nil }

// mayReadLease tells whether who may see the keys of a lease.
func (s *Server) mayReadLease(who *identity, id lease.LeaseID) error { return nil }

// mayEndLease tells whether who may renew or revoke a lease, which takes the permission to write its keys.
func (s *Server) mayEndLease(who *identity, id lease.LeaseID) error { return nil }

// mayListLeases tells whether who may see what leases there are.
func (s *Server) mayListLeases(who *identity) error { return nil }

// mayAdminister tells whether who may do what is for administrators: compaction, alarms, members, users.
func (s *Server) mayAdminister(who *identity) error { return nil }
