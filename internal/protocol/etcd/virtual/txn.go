package virtual

import (
	"cmp"
	"context"
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/statemachine"
)

// txnTries is how often a transaction is attempted when something that it compared or deleted has
// changed in the meantime.
const txnTries = 10

// Txns executes transactions that involve virtual keys.
type Txns struct {
	*Base
	Semaphores *semaphores.Manager // nil: no family changes semaphores
	Families   []Family
}

// family returns the family that a key belongs to, or nil for an ordinary key.
func (x *Txns) family(key []byte) Family {
	for _, f := range x.Families {
		if f.Holds(key) {
			return f
		}
	}
	return nil
}

// Do executes a transaction. Its changes to virtual and ordinary keys are atomic. The virtual keys
// that it compares, and the deliveries that it deletes, do not change until it is over. Its reads
// of virtual keys return the state before it.
//
// permit checks that the caller may do what the transaction does to ordinary keys.
func (x *Txns) Do(ctx context.Context, who Caller, r *pb.TxnRequest, permit func() error) (*pb.TxnResponse, error) {
	ordinary, err := x.check(who, r)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		resp, err := x.try(ctx, who, r, ordinary, permit)
		if try == txnTries || !errors.Is(err, failure.ErrStale) {
			return resp, x.status(err)
		}
	}
}

// status maps an error of a transaction to the one that clients get.
func (x *Txns) status(err error) error {
	for _, f := range x.Families {
		err = f.Status(err)
	}
	return ToStatus(err, nil)
}

// check refuses what is impossible in a transaction, or not permitted to this caller, in either
// branch. ordinary reports whether the transaction also involves ordinary keys.
func (x *Txns) check(who Caller, r *pb.TxnRequest) (ordinary bool, err error) {
	for _, c := range r.Compare {
		f := x.family(c.Key)
		ordinary = ordinary || f == nil
		if f != nil {
			if err := f.CheckCompare(who, c); err != nil {
				return false, err
			}
		}
	}
	for _, branch := range [][]*pb.RequestOp{r.Success, r.Failure} {
		for _, op := range branch {
			of, err := x.checkOp(who, op)
			if err != nil {
				return false, err
			}
			ordinary = ordinary || of
		}
	}
	return ordinary, nil
}

func (x *Txns) checkOp(who Caller, op *pb.RequestOp) (ordinary bool, err error) {
	switch o := op.Request.(type) {
	case *pb.RequestOp_RequestRange:
		return x.family(o.RequestRange.Key) == nil, nil
	case *pb.RequestOp_RequestPut:
		f := x.family(o.RequestPut.Key)
		if f == nil {
			return true, nil
		}
		return false, f.CheckPut(who, o.RequestPut)
	case *pb.RequestOp_RequestDeleteRange:
		f := x.family(o.RequestDeleteRange.Key)
		if f == nil {
			return true, nil
		}
		return false, f.CheckDelete(who, o.RequestDeleteRange)
	case *pb.RequestOp_RequestTxn:
		return x.check(who, o.RequestTxn)
	}
	return false, nil
}

// txn is one attempt of a transaction.
type txn struct {
	x   *Txns
	who Caller
	ctx context.Context
	s   *broker.Session     // borrowed
	due *broker.Reservation // of the messages that it publishes; nil: it need not wait

	mixed    bool     // involves ordinary keys
	families []Family // of parts
	parts    []Part
	ordinary []*pb.RequestOp  // operations on ordinary keys, in their order
	answers  []*pb.ResponseOp // answers of ordinary, to be filled in
	writes   bool             // ordinary contains changes
	resp     *pb.TxnResponse
}

func (x *Txns) try(ctx context.Context, who Caller, r *pb.TxnRequest, ordinary bool, permit func() error) (_ *pb.TxnResponse, err error) {
	s, err := x.Operator()
	if err != nil {
		return nil, err
	}
	defer x.Back(s)
	t := &txn{x: x, who: who, ctx: ctx, s: s, mixed: ordinary}
	defer func() { err = t.end(err) }()
	if !ordinary {
		if t.resp, err = t.choose(r); err == nil {
			err = t.commit(nil)
		}
		if err != nil {
			return nil, err
		}
		t.resp.Header = x.Present()
		return t.resp, nil
	}
	result, err := x.Store.Exclusive(ctx, func() (*pb.InternalRaftRequest, error) {
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
	if err := t.due.Await(ctx); err != nil {
		return nil, err
	}
	if result != nil {
		t.fill(result.Resp.(*pb.TxnResponse))
	}
	if t.resp.Header == nil {
		t.resp.Header = x.Header(x.Store.KV().Rev())
	}
	return t.resp, nil
}

// look decides what a mixed transaction does, and returns its changes to ordinary keys, or nil if
// there are none.
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
	resp, err := t.x.Store.Txn(t.ctx, request)
	if err == nil {
		t.fill(resp)
	}
	return nil, err
}

// applicable returns an error if the store would refuse the changes to ordinary keys when they are
// applied. That would be too late for the changes to virtual keys. The checked state cannot change
// until then.
func (t *txn) applicable() error {
	there := func(key, end []byte, revision int64) (bool, error) {
		r, err := t.x.Store.KV().Range(t.ctx, key, end, mvcc.RangeOptions{Rev: revision, CountOnly: true})
		return err == nil && r.Count > 0, err
	}
	for _, op := range t.ordinary {
		if r := op.GetRequestRange(); r != nil {
			if r.Revision < 0 && r.Revision < t.x.Store.KV().FirstRev() { // only etcd's transactions accept it
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
		if r.Lease != 0 && !t.x.LeaseExists(r.Lease) {
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

// fill inserts the answers about ordinary keys.
func (t *txn) fill(resp *pb.TxnResponse) {
	for i, a := range t.answers {
		a.Response = resp.Responses[i].Response
	}
	t.resp.Header = t.x.Header(resp.Header.GetRevision())
}

// choose evaluates the comparisons, and collects the operations of the chosen branch.
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

// compare reports whether a comparison holds.
func (t *txn) compare(c *pb.Compare) (bool, error) {
	if f := t.x.family(c.Key); f != nil {
		return t.part(f).Compare(c)
	}
	resp, err := t.x.Store.Txn(t.ctx, &pb.TxnRequest{Compare: []*pb.Compare{c}})
	return err == nil && resp.Succeeded, err
}

// part returns the part of a family.
func (t *txn) part(f Family) Part {
	for i, have := range t.families {
		if have == f {
			return t.parts[i]
		}
	}
	p := f.Begin(t.who, t.s)
	t.families, t.parts = append(t.families, f), append(t.parts, p)
	return p
}

// do collects one operation.
func (t *txn) do(op *pb.RequestOp, answer *pb.ResponseOp) (err error) {
	switch o := op.Request.(type) {
	case *pb.RequestOp_RequestRange:
		if f := t.x.family(o.RequestRange.Key); f != nil {
			var resp *pb.RangeResponse
			resp, err = f.Range(t.who, o.RequestRange)
			answer.Response = &pb.ResponseOp_ResponseRange{ResponseRange: resp}
			return err
		}
	case *pb.RequestOp_RequestPut:
		if f := t.x.family(o.RequestPut.Key); f != nil {
			resp := &pb.PutResponse{Header: t.x.Present()}
			answer.Response = &pb.ResponseOp_ResponsePut{ResponsePut: resp}
			return t.part(f).Put(o.RequestPut, resp)
		}
		t.writes = true
	case *pb.RequestOp_RequestDeleteRange:
		if f := t.x.family(o.RequestDeleteRange.Key); f != nil {
			resp := &pb.DeleteRangeResponse{Header: t.x.Present()}
			answer.Response = &pb.ResponseOp_ResponseDeleteRange{ResponseDeleteRange: resp}
			return t.part(f).Delete(o.RequestDeleteRange, resp)
		}
		t.writes = true
	case *pb.RequestOp_RequestTxn:
		inner, err := t.choose(o.RequestTxn)
		if err == nil {
			inner.Header = t.x.Present()
		}
		answer.Response = &pb.ResponseOp_ResponseTxn{ResponseTxn: inner}
		return err
	default:
		return rpctypes.ErrGRPCKeyNotFound
	}
	t.ordinary, t.answers = append(t.ordinary, op), append(t.answers, answer)
	return nil
}

// commit makes all collected changes durable, together with an entry about ordinary keys.
func (t *txn) commit(entry []byte) error {
	var all Work
	for _, p := range t.parts {
		w := p.Work()
		all.Commands, all.Changes = append(all.Commands, w.Commands...), append(all.Changes, w.Changes...)
	}
	if entry != nil {
		all.Commands = append(all.Commands, &broker.PiggybackedEntry{Machine: statemachine.Keys, Entry: entry})
	}
	t.due = t.who.Session.ReserveAll(all.Commands...)
	var err error
	if !t.mixed { // otherwise waiting would block other changes; the answer waits instead
		err = t.due.Await(t.ctx)
	}
	switch {
	case err != nil:
	case len(all.Changes) > 0:
		err = t.x.Semaphores.DoWith(t.s, semaphores.Group{Commands: all.Commands, Must: true}, all.Changes...)
	case len(all.Commands) > 0:
		err = t.s.DoAll(all.Commands...)
	}
	if err != nil {
		return err
	}
	for _, c := range all.Commands {
		if post, ok := c.(*broker.Post); ok && post.Err != nil {
			return post.Err
		}
	}
	return nil
}

// end reports the outcome of the transaction to its parts.
func (t *txn) end(err error) error {
	for _, p := range t.parts {
		err = cmp.Or(err, p.End(err == nil))
	}
	return err
}
