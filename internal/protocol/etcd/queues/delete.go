package queues

import (
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// DeleteRange acknowledges deliveries, removes a consumer, or deletes a queue. Everything else is
// refused.
func (n *Namespace) DeleteRange(who Caller, r *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error) {
	path, reach := qkey.ConsumerOf(r.Key, r.RangeEnd)
	resp := &pb.DeleteRangeResponse{}
	var err error
	switch {
	case reach != qkey.Elsewhere:
		err = n.deleteOf(who, &path, reach, r, resp)
	case path.Kind == qkey.Record && len(r.RangeEnd) == 0:
		err = n.deleteQueue(who, &path, r, resp)
	default:
		err = rpctypes.ErrGRPCPermissionDenied
	}
	if err != nil {
		return nil, err
	}
	resp.Deleted = max(resp.Deleted, int64(len(resp.PrevKvs)))
	if !r.PrevKv {
		resp.PrevKvs = nil
	}
	resp.Header = n.Present()
	return resp, nil
}

// owned returns a consumer that the caller may act for, or nil if there is none.
func (n *Namespace) owned(who Caller, path *qkey.Path) (*consumer, error) {
	c := n.find(path.Queue, path.Client)
	if c == nil || !c.isMade() {
		return nil, toStatus(who.Session.MayConsume(string(path.Queue)))
	}
	return c, c.mine(who)
}

// deleteOf deletes keys of a consumer.
func (n *Namespace) deleteOf(who Caller, path *qkey.Path, reach qkey.Reach, r *pb.DeleteRangeRequest, resp *pb.DeleteRangeResponse) error {
	c, err := n.owned(who, path)
	if c == nil || err != nil {
		return err
	}
	c.touch()
	if reach != qkey.Self {
		all := c.claimRange(path, r.Key, r.RangeEnd)
		if resp.Deleted, err = c.acknowledge(all); err != nil {
			return err
		}
		if r.PrevKv && resp.Deleted > 0 { // else the queue was deleted in the meantime
			for i := range all {
				resp.PrevKvs = append(resp.PrevKvs, all[i].kv(path.Base))
			}
		}
	}
	if reach == qkey.Self || reach == qkey.Whole {
		resp.PrevKvs = append([]*mvccpb.KeyValue{c.record(path.Base)}, resp.PrevKvs...)
		resp.Deleted++
		c.leave(errLeft)
	}
	return nil
}

// claimRange claims the deliveries of a key or a range. path is the parsed key.
func (c *consumer) claimRange(path *qkey.Path, key, end []byte) []hold {
	if path.Kind == qkey.Delivery && len(end) == 0 {
		if h, ok := c.claimOne(handleOf(path.Index), path.Tail); ok {
			return []hold{h}
		}
		return nil
	}
	return c.claim(matcher(path, key, end))
}

// matcher returns a function that reports whether a delivery of a consumer is in a key or a range.
// path is the parsed key.
func matcher(path *qkey.Path, key, end []byte) func(queue.Handle, *held) bool {
	switch {
	case len(end) == 0:
		return func(handle queue.Handle, h *held) bool {
			return handle == handleOf(path.Index) && h.is(handle, path.Tail)
		}
	case path.Kind == qkey.Consumer && len(key) == len(path.Base):
		return func(queue.Handle, *held) bool { return true }
	}
	span := qkey.NewSpan(key, end)
	var buf []byte
	return func(handle queue.Handle, h *held) bool {
		buf = h.appendKey(append(buf[:0], path.Base...), handle)
		return span.Has(buf)
	}
}

// acknowledge acknowledges claimed deliveries, and returns when that is durable.
func (c *consumer) acknowledge(all []hold) (n int64, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	s, err := c.n.Operator()
	if err != nil {
		c.unclaim(all)
		return 0, err
	}
	sent := 0
	wait := make(confirmation, len(all))
	for first, n := range runs(all) {
		s.AckConfirmed(c.engine.Queue, c.engine, first, n, wait, 0)
		sent++
	}
	s.Flush()
	c.n.Back(s)
	there := false
	for range sent {
		there = <-wait || there
	}
	c.settled(all...)
	switch {
	case there:
		return int64(len(all)), nil
	case c.n.Broker.LogFailed():
		return 0, virtual.ErrLogFailed
	}
	return 0, nil // the queue was deleted in the meantime
}

// deleteQueue deletes a queue with its messages.
func (n *Namespace) deleteQueue(who Caller, path *qkey.Path, r *pb.DeleteRangeRequest, resp *pb.DeleteRangeResponse) error {
	name := string(path.Queue)
	if err := who.Session.MayDelete(name); err != nil {
		return toStatus(err)
	}
	if !who.Session.HasQueue(name) {
		return nil
	}
	s, err := n.Operator()
	if err != nil {
		return err
	}
	defer n.Back(s)
	_, err = s.DeleteQueue(name, false, false)
	if err == nil || errors.Is(err, failure.ErrQueueNotFound) {
		resp.PrevKvs = []*mvccpb.KeyValue{n.queueRecord(r.Key)}
		return nil
	}
	return toStatus(err)
}

// queueRecord returns the key-value pair of a queue, with the given spelling of its key.
func (n *Namespace) queueRecord(key []byte) *mvccpb.KeyValue {
	return &mvccpb.KeyValue{Key: key, Value: []byte(n.Node), CreateRevision: 1, ModRevision: 1, Version: 1}
}
