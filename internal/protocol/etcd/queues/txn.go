package queues

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// Holds implements virtual.Family.
func (n *Namespace) Holds(key []byte) bool { return qkey.Holds(key) }

// CheckCompare implements virtual.Family: every key can be compared.
func (n *Namespace) CheckCompare(Caller, *pb.Compare) error { return nil }

// CheckPut implements virtual.Family: only messages can be put.
func (n *Namespace) CheckPut(who Caller, r *pb.PutRequest) error {
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
	if err == nil {
		err = n.Admit()
	}
	return toStatus(err)
}

// CheckDelete implements virtual.Family: only deliveries can be deleted.
func (n *Namespace) CheckDelete(who Caller, r *pb.DeleteRangeRequest) error {
	path, reach := qkey.ConsumerOf(r.Key, r.RangeEnd)
	if reach != qkey.Some && reach != qkey.All {
		return errTxnOther
	}
	_, err := n.owned(who, &path)
	return err
}

// Status implements virtual.Family.
func (n *Namespace) Status(err error) error { return toStatus(err) }

// Begin implements virtual.Family.
func (n *Namespace) Begin(who Caller, s *broker.Session) virtual.Part {
	return &part{n: n, who: who, s: s}
}

// part is what one attempt of a transaction does to queue keys. It claims the caller's deliveries
// that it compares or deletes until it is over.
type part struct {
	n   *Namespace
	who Caller
	s   *broker.Session

	claims   []claim
	commands []broker.Command
}

// claim is a delivery that the transaction has claimed.
type claim struct {
	c    *consumer
	h    hold
	gone bool // the transaction deletes it
}

// Compare implements virtual.Part. If the key names a delivery of the caller, the delivery stays
// claimed until the transaction is over.
func (t *part) Compare(c *pb.Compare) (bool, error) {
	path := qkey.Parse(c.Key)
	if path.Kind == qkey.Delivery && len(c.RangeEnd) == 0 {
		have := t.n.find(path.Queue, path.Client)
		if have != nil && have.isMade() && have.mine(t.who) == nil {
			return virtual.HoldsFor(c, t.claimOne(have, c.Key, &path)), nil
		}
	}
	resp, err := t.n.Range(t.who, &pb.RangeRequest{Key: c.Key, RangeEnd: c.RangeEnd})
	if err != nil {
		return false, err
	}
	return virtual.HoldsFor(c, resp.Kvs), nil
}

// claimOne claims a delivery and returns its key-value pair, or nothing if there is no delivery to
// claim.
func (t *part) claimOne(c *consumer, key []byte, path *qkey.Path) []*mvccpb.KeyValue {
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

// Put implements virtual.Part: it collects a message.
func (t *part) Put(r *pb.PutRequest, _ *pb.PutResponse) error {
	path := qkey.Parse(r.Key)
	targets, err := t.s.To(path.Queue)
	if err != nil {
		return toStatus(err)
	}
	p := newPublish(targets, &path, r.Value, alone)
	t.commands = append(t.commands, &broker.Post{
		OnQueue: broker.OnQueue{Queue: string(path.Queue)}, Env: p.Env, Persistent: true, TTL: -1, Create: true, Must: true,
	})
	return nil
}

// Delete implements virtual.Part: it collects acknowledgements.
func (t *part) Delete(r *pb.DeleteRangeRequest, answer *pb.DeleteRangeResponse) error {
	path, _ := qkey.ConsumerOf(r.Key, r.RangeEnd)
	c, err := t.n.owned(t.who, &path)
	if c == nil || err != nil {
		return err
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
		answer.Deleted++
		if r.PrevKv {
			answer.PrevKvs = append(answer.PrevKvs, cl.h.kv(path.Base))
		}
	}
	return nil
}

// Work implements virtual.Part.
func (t *part) Work() virtual.Work { return virtual.Work{Commands: t.commands} }

// End implements virtual.Part: it settles or releases the claimed deliveries.
func (t *part) End(done bool) error {
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
	return nil
}
