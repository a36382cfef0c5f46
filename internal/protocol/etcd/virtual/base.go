package virtual

import (
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/keyspace"
)

// VHost is the virtual host whose things are shown as keys.
const VHost = "/"

// Caller is the user of a request.
type Caller struct {
	Session *broker.Session // asked for permissions, from any goroutine
	User    string          // owns the consumers that it makes
	Root    bool            // may use those of others
}

// Options of a Base. The zero values mean the defaults.
type Options struct {
	// Header makes the header of an answer about virtual keys. nil: one with nothing but the
	// revision.
	Header func(revision int64) *pb.ResponseHeader
	// LeaseExists reports whether a lease is there. nil: none is.
	LeaseExists func(id int64) bool
	Store       *keyspace.Store // of the ordinary keys; nil: there are none
	Now         func() time.Time
}

// Base is what all families of virtual keys stand on.
type Base struct {
	Options
	Clock    Clock
	Broker   *broker.Broker
	sessions sync.Pool // of *broker.Session, the operator's, for calls that wait
}

// NewBase returns a base on a broker.
func NewBase(b *broker.Broker, o Options) *Base {
	if o.Header == nil {
		o.Header = func(revision int64) *pb.ResponseHeader { return &pb.ResponseHeader{Revision: revision} }
	}
	if o.LeaseExists == nil {
		o.LeaseExists = func(int64) bool { return false }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	base := &Base{Options: o, Broker: b}
	base.Clock.now = o.Now
	base.Clock.Next()
	return base
}

// Operator lends a session that may do everything, for one call.
func (b *Base) Operator() (*broker.Session, error) {
	if s, ok := b.sessions.Get().(*broker.Session); ok {
		return s, nil
	}
	s, err := b.Broker.Operate(VHost)
	return s, ToStatus(err, nil)
}

// Back takes a lent session back.
func (b *Base) Back(s *broker.Session) { b.sessions.Put(s) }

// Present is the header of an answer that is of now.
func (b *Base) Present() *pb.ResponseHeader { return b.Header(b.Clock.Current()) }

// Admit refuses what takes room while there is an alarm.
func (b *Base) Admit() error {
	switch alarm := b.Broker.Alarm(); {
	case alarm == nil:
		return nil
	case alarm.Reason == broker.LowOnDisk:
		return rpctypes.ErrGRPCNoSpace
	default:
		return rpctypes.ErrGRPCRequestTooManyRequests
	}
}
