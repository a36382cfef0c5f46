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
	// Range reads keys as they are now.
	Range(who Caller, r *pb.RangeRequest) (*pb.RangeResponse, error)
	// CheckCompare, CheckPut and CheckDelete refuse what no transaction can do, or not for this
	// caller.
	CheckCompare(who Caller, c *pb.Compare) error
	CheckPut(who Caller, r *pb.PutRequest) error
	CheckDelete(who Caller, r *pb.DeleteRangeRequest) error
	// Status is an error of the work of a Part as clients get it; what the family does not know
	// stays as it is.
	Status(err error) error
	// Begin begins what one try of a transaction does to the family's keys; s is the operator's.
	Begin(who Caller, s *broker.Session) Part
}

// Part is what one try of a transaction does to the keys of one family. Errors: failure.ErrStale
// when another try may do better.
type Part interface {
	// Compare reports whether a comparison holds. What it tells stays true until the work is done,
	// or the work fails with failure.ErrStale.
	Compare(c *pb.Compare) (bool, error)
	// Put and Delete gather what is to be done. End may complete the answers.
	Put(r *pb.PutRequest, answer *pb.PutResponse) error
	Delete(r *pb.DeleteRangeRequest, answer *pb.DeleteRangeResponse) error
	// Work is what was gathered.
	Work() Work
	// End is told once whether the work was done.
	End(done bool) error
}

// Work is what happens together.
type Work struct {
	Commands []broker.Command
	Changes  []semaphores.Change
}
