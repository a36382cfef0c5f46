package grants

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/auth"
	"go.etcd.io/etcd/server/v3/lease"
)

// Leases finds leases. A lease.Lessor implements it.
type Leases interface {
	Lookup(id lease.LeaseID) *lease.Lease
}

// Allow checks an entry against the permissions of the user in its header. Without a header it is
// an entry of the server itself, which may do everything. While access control is off everything is
// allowed. Errors: auth.ErrPermissionDenied; auth.ErrUserEmpty if there is no user;
// auth.ErrAuthOldRevision if users or roles have changed since the user was looked up.
func (g *Grants) Allow(r *pb.InternalRaftRequest, leases Leases) error {
	if r.Header == nil || !g.Enabled() {
		return nil
	}
	who := &Info{Username: r.Header.Username, Revision: r.Header.AuthRevision}
	switch {
	case r.Put != nil:
		return g.MayPut(who, r.Put, leases)
	case r.DeleteRange != nil:
		return g.MayDelete(who, r.DeleteRange)
	case r.Txn != nil:
		return g.MayTxn(who, r.Txn, leases)
	case r.LeaseRevoke != nil:
		return g.MayEndLease(who, lease.LeaseID(r.LeaseRevoke.ID), leases)
	case r.LeaseGrant != nil:
		return g.MayAnything(who)
	case r.Range != nil:
		return g.MayRange(who, r.Range.Key, r.Range.RangeEnd)
	}
	return g.MayAdminister(who)
}

// MayAnything checks that the request has a user. Errors: auth.ErrUserEmpty.
func (g *Grants) MayAnything(who *Info) error {
	if !g.Enabled() || who.Username != "" {
		return nil
	}
	return auth.ErrUserEmpty
}

// MayRange checks that a user may read the keys from key to end, where end is as in a RangeRequest.
// Errors are those of Allow.
func (g *Grants) MayRange(who *Info, key, end []byte) error {
	return g.store.IsRangePermitted(who, key, end)
}

// MayPut checks that a user may do a put: write the key; with a lease also write all keys of that
// lease, because they are deleted together; and read the key if the answer contains its old value.
// Errors are those of Allow.
func (g *Grants) MayPut(who *Info, r *pb.PutRequest, leases Leases) error {
	if err := g.store.IsPutPermitted(who, r.GetKey()); err != nil {
		return err
	}
	if err := g.MayEndLease(who, lease.LeaseID(r.GetLease()), leases); err != nil {
		return err
	}
	if r.GetPrevKv() {
		return g.MayRange(who, r.GetKey(), nil)
	}
	return nil
}

// MayDelete checks that a user may delete a range of keys, and read it if the answer contains the
// old values. Errors are those of Allow.
func (g *Grants) MayDelete(who *Info, r *pb.DeleteRangeRequest) error {
	if err := g.store.IsDeleteRangePermitted(who, r.GetKey(), r.GetRangeEnd()); err != nil {
		return err
	}
	if r.GetPrevKv() {
		return g.MayRange(who, r.GetKey(), r.GetRangeEnd())
	}
	return nil
}

// MayTxn checks that a user may do everything that a transaction might do, including the branch
// that is not taken. Errors are those of Allow.
func (g *Grants) MayTxn(who *Info, r *pb.TxnRequest, leases Leases) error {
	for _, c := range r.GetCompare() {
		if err := g.MayRange(who, c.Key, c.RangeEnd); err != nil {
			return err
		}
	}
	for _, branch := range [][]*pb.RequestOp{r.GetSuccess(), r.GetFailure()} {
		for _, op := range branch {
			if err := g.mayOp(who, op, leases); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *Grants) mayOp(who *Info, op *pb.RequestOp, leases Leases) error {
	switch o := op.GetRequest().(type) {
	case *pb.RequestOp_RequestRange:
		return g.MayRange(who, o.RequestRange.GetKey(), o.RequestRange.GetRangeEnd())
	case *pb.RequestOp_RequestPut:
		return g.MayPut(who, o.RequestPut, leases)
	case *pb.RequestOp_RequestDeleteRange:
		return g.MayDelete(who, o.RequestDeleteRange)
	case *pb.RequestOp_RequestTxn:
		return g.MayTxn(who, o.RequestTxn, leases)
	}
	return nil
}

// MayEndLease checks that a user may revoke a lease, renew it or attach a key to it: this takes
// write permission on all keys of the lease. Any user may end a missing lease. Errors are those of
// Allow.
func (g *Grants) MayEndLease(who *Info, id lease.LeaseID, leases Leases) error {
	if err := g.MayAnything(who); err != nil {
		return err
	}
	return g.eachKey(who, leases.Lookup(id), func(key []byte) error { return g.store.IsPutPermitted(who, key) })
}

// MayReadLease checks that a user may see the keys of a lease: this takes read permission on all of
// them. Errors are those of Allow.
func (g *Grants) MayReadLease(who *Info, id lease.LeaseID, leases Leases) error {
	return g.MayReadLeases(who, []*lease.Lease{leases.Lookup(id)})
}

// MayReadLeases checks that a user may see that these leases exist: this takes read permission on
// all of their keys. Errors are those of Allow.
func (g *Grants) MayReadLeases(who *Info, leases []*lease.Lease) error {
	if err := g.MayAnything(who); err != nil {
		return err
	}
	for _, l := range leases {
		if err := g.eachKey(who, l, func(key []byte) error { return g.store.IsRangePermitted(who, key, nil) }); err != nil {
			return err
		}
	}
	return nil
}

// eachKey checks every key of a lease, unless the user may do everything.
func (g *Grants) eachKey(who *Info, l *lease.Lease, may func(key []byte) error) error {
	if l == nil || g.MayAdminister(who) == nil {
		return nil
	}
	for _, key := range l.Keys() {
		if err := may([]byte(key)); err != nil {
			return err
		}
	}
	return nil
}
