package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/pkg/v3/adt"
)

// The checks of this file are those that etcd makes of a request before anything else, in etcd's
// order: the first error counts.

func checkRange(r *pb.RangeRequest) error {
	if len(r.GetKey()) == 0 {
		return rpctypes.ErrGRPCEmptyKey
	}
	_, orderKnown := pb.RangeRequest_SortOrder_name[int32(r.SortOrder)]
	_, targetKnown := pb.RangeRequest_SortTarget_name[int32(r.SortTarget)]
	if !orderKnown || !targetKnown {
		return rpctypes.ErrGRPCInvalidSortOption
	}
	return nil
}

func checkPut(r *pb.PutRequest) error {
	switch {
	case len(r.GetKey()) == 0:
		return rpctypes.ErrGRPCEmptyKey
	case r.IgnoreValue && len(r.Value) != 0:
		return rpctypes.ErrGRPCValueProvided
	case r.IgnoreLease && r.Lease != 0:
		return rpctypes.ErrGRPCLeaseProvided
	}
	return nil
}

func checkDelete(r *pb.DeleteRangeRequest) error {
	if len(r.GetKey()) == 0 {
		return rpctypes.ErrGRPCEmptyKey
	}
	return nil
}

// checkTxn checks a transaction and its contents. A branch may have maxOps operations, less those
// of the enclosing transactions.
func checkTxn(r *pb.TxnRequest, maxOps int) error {
	if err := checkTxnOps(r, maxOps); err != nil {
		return err
	}
	for _, branch := range [][]*pb.RequestOp{r.Success, r.Failure} {
		if _, err := changesOf(branch); err != nil {
			return err
		}
	}
	return nil
}

func checkTxnOps(r *pb.TxnRequest, maxOps int) error {
	ops := max(len(r.GetCompare()), len(r.GetSuccess()), len(r.GetFailure()))
	if ops > maxOps {
		return rpctypes.ErrGRPCTooManyOps
	}
	for _, c := range r.GetCompare() {
		if len(c.Key) == 0 {
			return rpctypes.ErrGRPCEmptyKey
		}
	}
	for _, branch := range [][]*pb.RequestOp{r.GetSuccess(), r.GetFailure()} {
		for _, op := range branch {
			if err := checkOp(op, maxOps-ops); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkOp(op *pb.RequestOp, maxOps int) error {
	switch o := op.GetRequest().(type) {
	case *pb.RequestOp_RequestRange:
		return checkRange(o.RequestRange)
	case *pb.RequestOp_RequestPut:
		return checkPut(o.RequestPut)
	case *pb.RequestOp_RequestDeleteRange:
		return checkDelete(o.RequestDeleteRange)
	case *pb.RequestOp_RequestTxn:
		return checkTxnOps(o.RequestTxn, maxOps)
	default:
		return rpctypes.ErrGRPCKeyNotFound // etcd's answer to an empty operation
	}
}

// changes holds the keys that a list of operations puts and the ranges that it deletes.
type changes struct {
	puts  map[string]bool // true: the put keeps the current value or lease of the key
	dels  adt.IntervalTree
	tail  string // with tails: the lowest start of a delete range without end
	tails bool
}

// everything is the interval of all keys.
var everything = adt.NewStringAffineInterval("\x00", "")

// changesOf collects the changes of a list of operations and of its nested transactions. It fails
// if a key is put twice, or put and deleted: the operations of a transaction are simultaneous, so
// there is no order between them.
func changesOf(ops []*pb.RequestOp) (changes, error) {
	all := changes{puts: map[string]bool{}, dels: adt.NewIntervalTree()}
	for _, op := range ops {
		if d := op.GetRequestDeleteRange(); d != nil {
			all.dels.Insert(intervalOf(d), struct{}{})
			if string(d.RangeEnd) == toTheEnd {
				all.addTail(string(d.Key))
			}
		}
	}
	for _, op := range ops {
		if t := op.GetRequestTxn(); t != nil {
			if err := all.addTxn(t); err != nil {
				return all, err
			}
		}
	}
	for _, op := range ops {
		if p := op.GetRequestPut(); p != nil {
			if err := all.addPut(string(p.Key), p.IgnoreValue || p.IgnoreLease, nil); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

func intervalOf(d *pb.DeleteRangeRequest) adt.Interval {
	if len(d.RangeEnd) != 0 {
		return adt.NewStringAffineInterval(string(d.Key), string(d.RangeEnd))
	}
	return adt.NewStringAffinePoint(string(d.Key))
}

// addTxn adds both branches of a nested transaction. Both may put the same key, since only one of
// them is executed.
func (c *changes) addTxn(t *pb.TxnRequest) error {
	success, err := changesOf(t.Success)
	if err != nil {
		return err
	}
	failure, err := changesOf(t.Failure)
	if err != nil {
		return err
	}
	for key, keeps := range success.puts {
		if err := c.addPut(key, keeps, nil); err != nil {
			return err
		}
	}
	for key, keeps := range failure.puts {
		if err := c.addPut(key, keeps, success.puts); err != nil {
			return err
		}
	}
	c.dels.Union(success.dels, everything)
	c.dels.Union(failure.dels, everything)
	for _, branch := range []changes{success, failure} {
		if branch.tails {
			c.addTail(branch.tail)
		}
	}
	return nil
}

// toTheEnd is the range end that means no end.
const toTheEnd = "\x00"

func (c *changes) addTail(from string) {
	if !c.tails || from < c.tail {
		c.tail, c.tails = from, true
	}
}

// addPut adds a key that is put. It may have been put before if it is in allowed. etcd does not
// notice when a delete range without end meets a put. A put that keeps the key's value or lease
// then finds nothing, and panics whenever the log is applied, so it is refused here.
func (c *changes) addPut(key string, keeps bool, allowed map[string]bool) error {
	_, twice := c.puts[key]
	_, may := allowed[key]
	if twice && !may || c.dels.Intersects(adt.NewStringAffinePoint(key)) || keeps && c.tails && key >= c.tail {
		return rpctypes.ErrGRPCDuplicateKey
	}
	c.puts[key] = c.puts[key] || keeps
	return nil
}
