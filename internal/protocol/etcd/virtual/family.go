package virtual

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Family is a kind of virtual keys, as transactions see it. The methods return errors that are
// ready for clients.
type Family interface {
	// Holds reports whether a key belongs to the family.
	Holds(key []byte) bool
	// Range reads the current keys.
	Range(who Caller, r *pb.RangeRequest) (*pb.RangeResponse, error)
	// CheckCompare, CheckPut and CheckDelete refuse what is impossible in a transaction, or not
	// permitted to this caller.
	CheckCompare(who Caller, c *pb.Compare) error
	CheckPut(who Caller, r *pb.PutRequest) error
	CheckDelete(who Caller, r *pb.DeleteRangeRequest) error
	// Status maps an error of the work of a Part to the one that clients get. Other errors are
	// returned unchanged.
	Status(err error) error
	// Begin begins the part of one attempt of a transaction. s has all permissions.
	Begin(who Caller, s *broker.Session) Part
}

// Part is what one attempt of a transaction does to the keys of one family. Its methods return
// failure.ErrStale if another attempt may succeed.
type Part interface {
	// Compare reports whether a comparison holds. The result remains valid until the work is done,
	// or else the work fails with failure.ErrStale.
	Compare(c *pb.Compare) (bool, error)
	// Put and Delete collect changes. End may complete the answers.
	Put(r *pb.PutRequest, answer *pb.PutResponse) error
	Delete(r *pb.DeleteRangeRequest, answer *pb.DeleteRangeResponse) error
	// Work returns the collected changes.
	Work() Work
	// End is called once and reports whether the work was done.
	End(done bool) error
}

// Work is a set of changes that are made atomically.
type Work struct {
	Commands []broker.Command
	Changes  []semaphores.Change
}
