package queues

import (
	"cmp"
	"context"
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"fiveways/internal/broker"
	"fiveways/internal/protocol/etcd/qkey"
)

// txnTries is how often a transaction is done again because a delivery that it compared or deleted was lost meanwhile.
const txnTries = 10

// Txn does a transaction in which there are keys of queues. Messages that it puts, deliveries that it deletes and what it does to ordinary keys happen
// together or not at all. A delivery that it compares or deletes stays as it is until it is over. What it reads of queues is what was before it.
//
// permit tells whether the caller may do what the transaction does to ordinary keys.
func (n *Namespace) Txn(ctx context.Context, who Caller, r *pb.TxnRequest, permit func() error) (*pb.TxnResponse, error) {
	kinds, err := n.checkTxn(who, r)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		resp, err := n.tryTxn(ctx, who, r, kinds, permit)
		if try == txnTries || !errors.Is(err, broker.ErrStale) {
			return resp, toStatus(err)
		}
	}
}

// kinds says what a transaction is about.
type kinds struct{ puts, ordinary bool }

// checkTxn refuses what no transaction can do, or not for this caller, in either of its branches.
func (n *Namespace) checkTxn(who Caller, r *pb.TxnRequest) (k kinds, err error) {
	for _, c := range r.Compare {
		k.ordinary = k.ordinary || !qkey.Holds(c.Key)
	}
	for _, branch := range [][]*pb.RequestOp{r.Success, r.Failure} {
		for _, op := range branch {
			if err := n.checkOp(who, op, &k); err != nil {
				return k, err
			}
		}
	}
	if k.puts {
		err = n.admit()
	}
	return k, err
}

func (n *Namespace) checkOp(who Caller, op *pb.RequestOp, k *kinds) error {
	switch o := op.Request.(type) {
	case *pb.RequestOp_RequestRange:
		k.ordinary = k.ordinary || !qkey.Holds(o.RequestRange.Key)
	case *pb.RequestOp_RequestPut:
		if !qkey.Holds(o.RequestPut.Key) {
			k.ordinary = true
			return nil
		}
		k.puts = true
		return n.checkPutOp(who, o.RequestPut)
	case *pb.RequestOp_RequestDeleteRange:
		if !qkey.Holds(o.RequestDeleteRange.Key) {
			k.ordinary = true
			return nil
		}
		path, reach := qkey.ConsumerOf(o.RequestDeleteRange.Key, o.RequestDeleteRange.RangeEnd)
		if reach != qkey.Some && reach != qkey.All {
			return errTxnOther
		}
		_, err := n.owned(who, &path)
		return err
	case *pb.RequestOp_RequestTxn:
		inner, err := n.checkTxn(who, o.RequestTxn)
		k.puts, k.ordinary = k.puts || inner.puts, k.ordinary || inner.ordinary
		return err
	}
	return nil
}

func (n *Namespace) checkPutOp(who Caller, r *pb.PutRequest) error {
	path := qkey.Parse(r.Key)
	if path.Kind != qkey.Producer {
		return errTxnOther
	}
	if err := checkProduce(&path, r); err != nil {
		return err
	}
	queue := string(path.Queue)
	err := who.Session.MayWrite(queue)
	if err == nil {
		err = n.mayMake(who, queue)
	}
	return toStatus(err)
}

// txn is one try of a transaction.
type txn struct {
	n   *Namespace
	who Caller
	ctx context.Context
	s   *broker.Session // lent

	claims   []claim
	commands []broker.Command
	ordinary []*pb.RequestOp  // operations on ordinary keys, in their order
	answers  []*pb.ResponseOp // theirs, to be filled in
	writes   bool             // there are changes among them
	resp     *pb.TxnResponse
}

// claim is a delivery that the transaction holds on to.
type claim struct {
	c    *consumer
	h    hold
	gone bool // the transaction deletes it
}

func (n *Namespace) tryTxn(ctx context.Context, who Caller, r *pb.TxnRequest, k kinds, permit func() error) (_ *pb.TxnResponse, err error) {
	s, err := n.session()
	if err != nil {
		return nil, err
	}
	defer n.sessions.Put(s)
	t := &txn{n: n, who: who, ctx: ctx, s: s}
	defer func() { t.end(err == nil) }()
	if !k.ordinary {
		if t.resp, err = t.choose(r); err == nil {
			err = t.commit(nil)
		}
		if err != nil {
			return nil, err
		}
		t.resp.Header = n.header()
		return t.resp, nil
	}
	result, err := n.Store.Exclusive(ctx, func() (*pb.InternalRaftRequest, error) {
		if err := permit(); err != nil {
			return nil, err
		}
		return t.look(r)
	}, t.commit)
	if err == nil && result != nil {
		err = result.Err
	}
	if err != nil {
		return nil, err
	}
	if result != nil {
		t.fill(result.Resp.(*pb.TxnResponse))
	}
	if t.resp.Header == nil {
		t.resp.Header = n.Header(n.Store.KV().Rev())
	}
	return t.resp, nil
}

// look decides what a mixed transaction does, and returns what it does to ordinary keys; nil when it changes none.
func (t *txn) look(r *pb.TxnRequest) (_ *pb.InternalRaftRequest, err error) {
	if t.resp, err = t.choose(r); err != nil || len(t.ordinary) == 0 {
		return nil, err
	}
	request := &pb.TxnRequest{Success: t.ordinary}
	if t.writes {
		if err := t.applicable(); err != nil {
			return nil, err
		}
		return &pb.InternalRaftRequest{Txn: request}, nil
	}
	resp, err := t.n.Store.Txn(t.ctx, request)
	if err == nil {
		t.fill(resp)
	}
	return nil, err
}

// applicable finds what would make the store refuse the changes of ordinary keys when they are applied, which is too late for those of queues. Nothing of
// this can change until then.
func (t *txn) applicable() error {
	there := func(key, end []byte, revision int64) (bool, error) {
		r, err := t.n.Store.KV().Range(t.ctx, key, end, mvcc.RangeOptions{Rev: revision, CountOnly: true})
		return err == nil && r.Count > 0, err
	}
	for _, op := range t.ordinary {
		if r := op.GetRequestRange(); r != nil {
			if r.Revision < 0 && r.Revision < t.n.Store.KV().FirstRev() { // to etcd a revision like others, but only in transactions
				return rpctypes.ErrGRPCCompacted
			}
			if _, err := there(r.Key, r.RangeEnd, r.Revision); err != nil {
				return err
			}
		}
		r := op.GetRequestPut()
		if r == nil {
			continue
		}
		if r.Lease != 0 && !t.n.LeaseExists(r.Lease) {
			return rpctypes.ErrGRPCLeaseNotFound
		}
		if r.IgnoreValue || r.IgnoreLease {
			if ok, err := there(r.Key, nil, 0); !ok || err != nil {
				return cmp.Or(err, rpctypes.ErrGRPCKeyNotFound)
			}
		}
	}
	return nil
}

// fill puts the answers about ordinary keys to their places.
func (t *txn) fill(resp *pb.TxnResponse) {
	for i, a := range t.answers {
		a.Response = resp.Responses[i].Response
	}
	t.resp.Header = t.n.Header(resp.Header.GetRevision())
}

// choose compares, and gathers what the chosen branch does.
func (t *txn) choose(r *pb.TxnRequest) (*pb.TxnResponse, error) {
	resp := &pb.TxnResponse{Succeeded: true}
	for _, c := range r.Compare {
		ok, err := t.compare(c)
		if err != nil {
			return nil, err
		}
		resp.Succeeded = resp.Succeeded && ok
	}
	ops := r.Success
	if !resp.Succeeded {
		ops = r.Failure
	}
	for _, op := range ops {
		answer := &pb.ResponseOp{}
		if err := t.do(op, answer); err != nil {
			return nil, err
		}
		resp.Responses = append(resp.Responses, answer)
	}
	return resp, nil
}

// compare tells whether a comparison holds. A delivery of the caller that it names stays until the transaction is over.
func (t *txn) compare(c *pb.Compare) (bool, error) {
	if !qkey.Holds(c.Key) {
		resp, err := t.n.Store.Txn(t.ctx, &pb.TxnRequest{Compare: []*pb.Compare{c}})
		return err == nil && resp.Succeeded, err
	}
	path := qkey.Parse(c.Key)
	if path.Kind == qkey.Delivery && len(c.RangeEnd) == 0 {
		have := t.n.find(path.Queue, path.Client)
		if have != nil && have.isMade() && have.mine(t.who) == nil {
			return holdsFor(c, t.claimOne(have, c.Key, &path)), nil
		}
	}
	resp, err := t.n.Range(t.who, &pb.RangeRequest{Key: c.Key, RangeEnd: c.RangeEnd})
	if err != nil {
		return false, err
	}
	return holdsFor(c, resp.Kvs), nil
}

// claimOne claims a delivery; no key when there is none that could be.
func (t *txn) claimOne(c *consumer, key []byte, path *qkey.Path) []*mvccpb.KeyValue {
	for i := range t.claims {
		if have := &t.claims[i]; have.c == c && have.h.handle == handleOf(path.Index) && have.h.is(have.h.handle, path.Tail) {
			return []*mvccpb.KeyValue{have.h.kvAt(key)}
		}
	}
	h, ok := c.claimOne(handleOf(path.Index), path.Tail)
	if !ok {
		return nil
	}
	t.claims = append(t.claims, claim{c: c, h: h})
	return []*mvccpb.KeyValue{h.kvAt(key)}
}

// do gathers one operation.
func (t *txn) do(op *pb.RequestOp, answer *pb.ResponseOp) (err error) {
	switch o := op.Request.(type) {
	case *pb.RequestOp_RequestRange:
		if qkey.Holds(o.RequestRange.Key) {
			var resp *pb.RangeResponse
			resp, err = t.n.Range(t.who, o.RequestRange)
			answer.Response = &pb.ResponseOp_ResponseRange{ResponseRange: resp}
			return err
		}
	case *pb.RequestOp_RequestPut:
		if qkey.Holds(o.RequestPut.Key) {
			answer.Response = &pb.ResponseOp_ResponsePut{ResponsePut: &pb.PutResponse{Header: t.n.header()}}
			return t.put(o.RequestPut)
		}
		t.writes = true
	case *pb.RequestOp_RequestDeleteRange:
		if qkey.Holds(o.RequestDeleteRange.Key) {
			var resp *pb.DeleteRangeResponse
			resp, err = t.delete(o.RequestDeleteRange)
			answer.Response = &pb.ResponseOp_ResponseDeleteRange{ResponseDeleteRange: resp}
			return err
		}
		t.writes = true
	case *pb.RequestOp_RequestTxn:
		inner, err := t.choose(o.RequestTxn)
		if err == nil {
			inner.Header = t.n.header()
		}
		answer.Response = &pb.ResponseOp_ResponseTxn{ResponseTxn: inner}
		return err
	default:
		return rpctypes.ErrGRPCKeyNotFound
	}
	t.ordinary, t.answers = append(t.ordinary, op), append(t.answers, answer)
	return nil
}

// put gathers a message.
func (t *txn) put(r *pb.PutRequest) error {
	path := qkey.Parse(r.Key)
	targets, err := t.s.To(path.Queue)
	if err != nil {
		return err
	}
	p := newPublish(targets, &path, r.Value, alone)
	t.commands = append(t.commands, &broker.Post{
		OnQueue: broker.OnQueue{Queue: string(path.Queue)}, Env: p.Env, Persistent: true, TTL: -1, Create: true, Must: true,
	})
	return nil
}

// delete gathers acknowledgements.
func (t *txn) delete(r *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error) {
	resp := &pb.DeleteRangeResponse{Header: t.n.header()}
	path, _ := qkey.ConsumerOf(r.Key, r.RangeEnd)
	c, err := t.n.owned(t.who, &path)
	if c == nil || err != nil {
		return resp, err
	}
	c.touch()
	for _, h := range c.claimRange(&path, r.Key, r.RangeEnd) {
		t.claims = append(t.claims, claim{c: c, h: h})
	}
	matches := matcher(&path, r.Key, r.RangeEnd)
	for i := range t.claims {
		cl := &t.claims[i]
		if cl.c != c || cl.gone || !matches(cl.h.handle, &cl.h.held) {
			continue
		}
		cl.gone = true
		t.commands = append(t.commands, &broker.Settle{
			OnDelivery: broker.OnDelivery{Of: c.engine.Queue, Consumer: c.engine, Handle: cl.h.handle}, Must: true,
		})
		resp.Deleted++
		if r.PrevKv {
			resp.PrevKvs = append(resp.PrevKvs, cl.h.kv(path.Base))
		}
	}
	return resp, nil
}

// commit makes all that was gathered durable, with an entry about ordinary keys.
func (t *txn) commit(entry []byte) error {
	if entry != nil {
		t.commands = append(t.commands, &broker.Note{Annex: broker.KeyShard, Entry: entry})
	}
	if len(t.commands) == 0 {
		return nil
	}
	if err := t.s.DoAll(t.commands...); err != nil {
		return err
	}
	for _, c := range t.commands {
		if post, ok := c.(*broker.Post); ok && post.Err != nil {
			return post.Err
		}
	}
	return nil
}

// end tells consumers what became of the deliveries that were claimed.
func (t *txn) end(done bool) {
	gone, kept := map[*consumer][]hold{}, map[*consumer][]hold{}
	for _, cl := range t.claims {
		if cl.gone && done {
			gone[cl.c] = append(gone[cl.c], cl.h)
		} else {
			kept[cl.c] = append(kept[cl.c], cl.h)
		}
	}
	for c, all := range gone {
		c.settled(all...)
	}
	for c, all := range kept {
		c.unclaim(all)
	}
}
