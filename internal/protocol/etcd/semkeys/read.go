package semkeys

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Range reads the current keys of semaphores; they have no history. A range over several semaphores
// leaves out those that the caller may not read.
func (n *Namespace) Range(who Caller, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	if r.Revision > n.Clock.Current() {
		return nil, rpctypes.ErrGRPCFutureRev
	}
	if err := n.feed.open(); err != nil { // a watch from here must miss nothing
		return nil, toStatus(err)
	}
	resp := &pb.RangeResponse{Header: n.Present()}
	var err error
	if len(r.RangeEnd) == 0 {
		err = n.one(who, r, resp)
	} else {
		err = n.many(who, r, resp)
	}
	if err != nil {
		return nil, toStatus(err)
	}
	return resp, nil
}

// one answers a range of one key.
func (n *Namespace) one(who Caller, r *pb.RangeRequest, resp *pb.RangeResponse) error {
	kv, err := n.get(who, r.Key)
	if kv == nil || err != nil {
		return err
	}
	resp.Count = 1
	if !r.CountOnly {
		resp.Kvs, resp.More = virtual.Arrange([]*mvccpb.KeyValue{kv}, r)
	}
	return nil
}

// get reads a key. It returns nil if the key does not exist.
func (n *Namespace) get(who Caller, key []byte) (*mvccpb.KeyValue, error) {
	p, ok := parse(key)
	if !ok {
		return nil, nil
	}
	if err := may(who, toRead, p.semaphore); err != nil {
		return nil, err
	}
	return n.getOf(key, &p)
}

// getOf is get without a permission check.
func (n *Namespace) getOf(key []byte, p *path) (*mvccpb.KeyValue, error) {
	if p.task == "" {
		q := semaphores.Look{Of: semaphores.Of{Key: p.semaphore}}
		if err := n.do(&q); err != nil || q.Err != nil {
			return nil, unlessGone(err, q.Err)
		}
		return semaphoreKV(key, &q.Info), nil
	}
	states, err := n.statuses(p.semaphore, []string{p.task})
	if err != nil || len(states) == 0 || !states[0].Found {
		return nil, err
	}
	return taskKV(key, &states[0]), nil
}

// statuses returns the states of tasks, or nothing if the semaphore does not exist.
func (n *Namespace) statuses(semaphore string, tasks []string) ([]semaphores.State, error) {
	q := semaphores.Status{Of: semaphores.Of{Key: semaphore}, Tasks: tasks}
	if err := n.do(&q); err != nil || q.Err != nil {
		return nil, unlessGone(err, q.Err)
	}
	for i := range q.States {
		q.States[i].ID = tasks[i]
	}
	return q.States, nil
}

// many answers a range of several keys.
func (n *Namespace) many(who Caller, r *pb.RangeRequest, resp *pb.RangeResponse) error {
	s := newSpan(r.Key, r.RangeEnd)
	g := &gathering{n: n, who: who, span: s, most: virtual.LimitOf(r), countOnly: r.CountOnly, kept: map[string]struct{}{}}
	if err := g.run(); err != nil {
		return err
	}
	if resp.Count = g.count; r.CountOnly {
		return nil
	}
	kvs, err := g.keyValues(r.KeysOnly && r.SortTarget != pb.RangeRequest_VALUE)
	if err != nil {
		return err
	}
	resp.Kvs, resp.More = virtual.Arrange(kvs, r)
	resp.Count = max(resp.Count, int64(len(resp.Kvs)))
	return nil
}
