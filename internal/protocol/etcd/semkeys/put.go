package semkeys

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// Put changes the settings of a semaphore, or enqueues or changes a task.
func (n *Namespace) Put(_ context.Context, who Caller, r *pb.PutRequest) (*pb.PutResponse, error) {
	if err := n.CheckPut(who, r); err != nil {
		return nil, err
	}
	resp := &pb.PutResponse{}
	if err := n.request(who, func(t *part) error { return t.Put(r, resp) }); err != nil {
		return nil, err
	}
	resp.Header = n.Present()
	return resp, nil
}

// CheckPut implements virtual.Family.
func (n *Namespace) CheckPut(who Caller, r *pb.PutRequest) error {
	p, ok := parse(r.Key)
	if !ok {
		return errKey
	}
	action := toWrite
	if p.task == "" {
		action = toConfigure
	}
	err := may(who, action, p.semaphore)
	if err == nil && r.PrevKv {
		err = may(who, toRead, p.semaphore)
	}
	switch {
	case err != nil:
		return err
	case r.Lease != 0 && p.task == "":
		return errNoLease
	case r.Lease != 0 && !n.LeaseExists(r.Lease):
		return rpctypes.ErrGRPCLeaseNotFound
	}
	n.leases.await(context.Background(), r.Lease) // a new lease with the ID of one that ended must keep its tasks
	return nil
}
