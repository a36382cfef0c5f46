package queues

import (
	"errors"
	"math"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// Range reads the current keys of queues; they have no history. A range over several queues leaves
// out those that the caller may not read.
func (n *Namespace) Range(who Caller, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	if r.Revision > n.Clock.Current() {
		return nil, rpctypes.ErrGRPCFutureRev
	}
	g := &gathering{n: n, who: who, most: virtual.LimitOf(r), countOnly: r.CountOnly, keysOnly: r.KeysOnly && r.SortTarget != pb.RangeRequest_VALUE}
	var err error
	if len(r.RangeEnd) == 0 {
		err = g.one(r.Key)
	} else {
		err = g.span(qkey.NewSpan(r.Key, r.RangeEnd))
	}
	if err != nil {
		return nil, toStatus(err)
	}
	resp := &pb.RangeResponse{Header: n.Present(), Count: max(g.count, int64(len(g.kvs)))}
	if !r.CountOnly {
		resp.Kvs, resp.More = virtual.Arrange(g.kvs, r)
	}
	return resp, nil
}

// gathering collects the keys of a range.
type gathering struct {
	n         *Namespace
	who       Caller
	looked    bool // messages of a queue were read since settle
	most      int  // number of keys needed; 0: all
	countOnly bool
	keysOnly  bool

	kvs   []*mvccpb.KeyValue
	count int64 // of all keys in the range
	bytes int
}

// add adds a key.
func (g *gathering) add(kv *mvccpb.KeyValue) error {
	if g.keysOnly {
		kv.Value = nil
	}
	g.kvs = append(g.kvs, kv)
	if g.bytes += len(kv.Key) + len(kv.Value) + 64; g.bytes > virtual.MaxAnswer {
		return virtual.ErrTooMuch
	}
	return nil
}

// one collects a single key.
func (g *gathering) one(key []byte) error {
	path := qkey.Parse(key)
	name := string(path.Queue)
	if path.Kind == qkey.None || path.Kind == qkey.Producer {
		return nil
	}
	if err := g.who.Session.MayConsume(name); err != nil {
		return err
	}
	var kv *mvccpb.KeyValue
	switch c := g.n.find(path.Queue, path.Client); {
	case path.Kind == qkey.Record && g.who.Session.HasQueue(name):
		kv = g.n.queueRecord(key)
	case path.Kind == qkey.Message:
		return g.message(key, &path)
	case path.Kind == qkey.Consumer && c != nil && c.isMade():
		kv = c.record(key)
		c.usedBy(g.who)
	case path.Kind == qkey.Delivery && c != nil && c.isMade():
		c.usedBy(g.who)
		kv = c.delivery(key, &path)
	}
	if kv == nil {
		return nil
	}
	g.count = 1
	return g.add(kv)
}

// usedBy records a request of the consumer's owner.
func (c *consumer) usedBy(who Caller) {
	if c.mine(who) == nil {
		c.touch()
	}
}

// delivery returns the key-value pair of a message that the consumer holds, or nil.
func (c *consumer) delivery(key []byte, path *qkey.Path) *mvccpb.KeyValue {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.held[handleOf(path.Index)]
	if !ok || !h.is(handleOf(path.Index), path.Tail) {
		return nil
	}
	return h.kvAt(key)
}

// message collects an unacknowledged message.
func (g *gathering) message(key []byte, path *qkey.Path) error {
	b, err := g.browse(string(path.Queue))
	if b == nil || err != nil {
		return err
	}
	b.Seek(handleOf(path.Index))
	page, err := b.Next(1)
	if err != nil || len(page) == 0 || page[0].Handle != handleOf(path.Index) {
		return unlessGone(err)
	}
	h := held{env: page[0].Env, tail: tailOf(page[0].Env)}
	if !h.is(page[0].Handle, path.Tail) {
		return nil
	}
	g.count = 1
	if err := g.add(messageKV(key, page[0].Handle, page[0].Env)); err != nil {
		return err
	}
	return g.settle(string(path.Queue))
}

// messageKV returns the key-value pair of a message. Its revision is its index, limited to the
// range of revisions.
func messageKV(key []byte, handle queue.Handle, env message.Envelope) *mvccpb.KeyValue {
	revision := int64(handle & math.MaxInt64)
	return &mvccpb.KeyValue{Key: key, Value: env.Body(), CreateRevision: revision, ModRevision: revision, Version: 1}
}

// browse returns a browser of a queue, or nil if the queue does not exist.
func (g *gathering) browse(name string) (*inspect.Browser, error) {
	s, err := g.n.Operator()
	if err != nil {
		return nil, err
	}
	defer g.n.Back(s)
	g.looked = true
	b, err := inspect.Browse(s, name)
	return b, unlessGone(err)
}

// settle waits until everything read from a queue is durable: no answer shows a message that a
// crash could lose.
func (g *gathering) settle(name string) error {
	if !g.looked {
		return nil
	}
	b, err := g.browse(name)
	g.looked = false
	if b == nil || err != nil {
		return err
	}
	return b.Queue().AwaitDurable()
}

// unlessGone returns err, or nil if the queue does not exist: then it has no keys.
func unlessGone(err error) error {
	if errors.Is(err, failure.ErrQueueNotFound) {
		return nil
	}
	return err
}
