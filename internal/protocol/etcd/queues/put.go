package queues

import (
	"context"
	"encoding/binary"
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// Put executes a put to a queue key: it publishes a message, creates or renews a consumer, or
// creates a queue.
func (n *Namespace) Put(ctx context.Context, who Caller, r *pb.PutRequest) (*pb.PutResponse, error) {
	path := qkey.Parse(r.Key)
	var prev *mvccpb.KeyValue
	var err error
	switch path.Kind {
	case qkey.Producer:
		err = n.produce(ctx, who, &path, r)
	case qkey.Consumer:
		prev, err = n.putConsumer(who, &path, r)
	case qkey.Record:
		err = n.putQueue(who, string(path.Queue))
	default:
		err = rpctypes.ErrGRPCPermissionDenied
	}
	if err != nil {
		return nil, err
	}
	resp := &pb.PutResponse{Header: n.Present()}
	if r.PrevKv {
		resp.PrevKv = prev
	}
	return resp, nil
}

// checkProduce refuses options that a put of a message does not support. Such a key has no previous
// value.
func checkProduce(path *qkey.Path, r *pb.PutRequest) error {
	switch {
	case r.IgnoreValue, r.IgnoreLease:
		return rpctypes.ErrGRPCKeyNotFound
	case r.Lease != 0:
		return errMessageLease
	case !fits(path):
		return errTail
	}
	return nil
}

// fits reports whether the message properties can hold the message key and the client name.
func fits(path *qkey.Path) bool {
	return len(path.Tail) <= message.MaxShortStr && len(path.Client) <= message.MaxShortStr
}

// produce publishes a message and waits for the configured guarantee.
func (n *Namespace) produce(ctx context.Context, who Caller, path *qkey.Path, r *pb.PutRequest) error {
	if err := checkProduce(path, r); err != nil {
		return err
	}
	s, targets, err := n.target(who, path.Queue)
	if err != nil {
		return err
	}
	wait := make(confirmation, 1)
	p := newPublish(targets, path, r.Value, alone)
	if n.Guarantee == Local {
		p.Confirm = wait
	}
	if err := who.Session.Reserve(&p).Await(ctx); err != nil {
		n.Back(s)
		return toStatus(err)
	}
	s.Publish(&p)
	s.Flush()
	n.Back(s)
	if p.Confirm == nil {
		return nil
	}
	return n.refused(<-wait)
}

// target finds the queue of a message that a caller sends, and borrows a session to publish it.
func (n *Namespace) target(who Caller, name []byte) (*broker.Session, shard.Targets, error) {
	queue := string(name)
	err := n.Admit()
	if err == nil {
		err = who.Session.MayWrite(queue)
	}
	if err == nil {
		err = n.mayMake(who, queue)
	}
	if err != nil {
		return nil, shard.Targets{}, toStatus(err)
	}
	s, err := n.Operator()
	if err != nil {
		return nil, shard.Targets{}, err
	}
	targets, err := s.To(name)
	if err != nil {
		n.Back(s)
		return nil, shard.Targets{}, toStatus(err)
	}
	return s, targets, nil
}

// confirmation receives the outcome of a publish or an acknowledgement.
type confirmation chan bool

// Confirmed implements shardlog.Confirmer.
func (c confirmation) Confirmed(_, _ uint64, ok bool) { c <- ok }

// refused returns the error of a publish that was not confirmed, or nil if ok.
func (n *Namespace) refused(ok bool) error {
	switch {
	case ok:
		return nil
	case n.Broker.LogFailed():
		return virtual.ErrLogFailed
	}
	return errFull
}

// newPublish returns a message with the key and the client as its message-id and app-id. room
// allocates its memory.
func newPublish(targets shard.Targets, path *qkey.Path, value []byte, room func(n int) []byte) shard.Publish {
	q := targets.Queues()[0]
	var space [2 * (message.MaxShortStr + 2)]byte
	props := appendProperties(space[:0], path, q.Policy())
	dst := room(message.EnvelopeSize(0, len(q.Name), len(props), len(value)))
	env := append(message.AppendEnvelopeHeader(dst, "", q.Name, props), value...)
	return shard.Publish{Targets: targets, Env: env, Persistent: true, TTL: -1, Direct: true}
}

// alone allocates memory for a single message.
func alone(n int) []byte { return make([]byte, 0, n) }

// appendProperties appends the properties of a message. If the queue deduplicates, the message key
// is also the deduplication key.
func appendProperties(dst []byte, path *qkey.Path, policy *catalog.QueuePolicy) []byte {
	flags := message.HasDeliveryMode
	dedup := policy.Deduplicate && len(path.Tail) > 0
	if dedup {
		flags |= message.HasHeaders
	}
	if len(path.Tail) > 0 {
		flags |= message.HasMessageID
	}
	if len(path.Client) > 0 {
		flags |= message.HasAppID
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(flags))
	if dedup {
		var headers message.Table
		headers.Set(policy.DedupHeader, string(path.Tail))
		dst = message.AppendTable(dst, headers)
	}
	dst = append(dst, message.Persistent)
	if len(path.Tail) > 0 {
		dst = message.AppendShortStr(dst, path.Tail)
	}
	if len(path.Client) > 0 {
		dst = message.AppendShortStr(dst, path.Client)
	}
	return dst
}

// putConsumer creates a consumer, or changes its lease. The value of its key is always the node.
func (n *Namespace) putConsumer(who Caller, path *qkey.Path, r *pb.PutRequest) (prev *mvccpb.KeyValue, err error) {
	if have := n.find(path.Queue, path.Client); have != nil && have.isMade() {
		if err := have.mine(who); err != nil {
			return nil, err
		}
		prev = have.record(r.Key)
	} else if r.IgnoreValue || r.IgnoreLease {
		return nil, rpctypes.ErrGRPCKeyNotFound
	}
	if r.Lease != 0 && !n.LeaseExists(r.Lease) {
		return nil, rpctypes.ErrGRPCLeaseNotFound
	}
	var old int64
	c, err := n.join(who, string(path.Queue), string(path.Client), func(c *consumer) {
		if old = c.lease; !r.IgnoreLease {
			c.lease = r.Lease // set at once, because its last watch may be ending
		}
	})
	if err != nil || r.IgnoreLease {
		return prev, err
	}
	return prev, n.keep(c, old, r.Lease)
}

// putQueue creates a durable queue if there is none.
func (n *Namespace) putQueue(who Caller, name string) error {
	if err := who.Session.MayDelete(name); err != nil { // it also permits creation
		return toStatus(err)
	}
	s, err := n.Operator()
	if err != nil {
		return err
	}
	defer n.Back(s)
	_, err = s.DeclareQueue(catalog.QueueSpec{Name: name, Durable: true, Policy: catalog.DefaultQueuePolicy()})
	if errors.Is(err, failure.ErrInequivalent) {
		return nil // it exists with other properties
	}
	return toStatus(err)
}
