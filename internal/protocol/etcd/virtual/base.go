package virtual

import (
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/keyspace"
)

// VHost is the virtual host whose queues and semaphores are presented as keys.
const VHost = "/"

// Caller is the user of a request.
type Caller struct {
	Session *broker.Session // for permission checks, from any goroutine
	User    string          // owns the consumers that it creates
	Root    bool            // may use the consumers of other users
}

// Options configures a Base. Zero values mean the defaults.
type Options struct {
	// Header returns the header of an answer about virtual keys. If it is nil, headers contain only
	// the revision.
	Header func(revision int64) *pb.ResponseHeader
	// LeaseExists reports whether a lease exists. If it is nil, no lease exists.
	LeaseExists func(id int64) bool
	Store       *keyspace.Store // of the ordinary keys; nil: there are none
	Now         func() time.Time
}

// Base holds what all families of virtual keys share.
type Base struct {
	Options
	Clock    Clock
	Broker   *broker.Broker
	sessions sync.Pool // of *broker.Session with all permissions, for calls that wait
}

// NewBase returns a base for a broker.
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

// Operator lends a session with all permissions for one call. The caller returns it with Back.
func (b *Base) Operator() (*broker.Session, error) {
	for {
		s, ok := b.sessions.Get().(*broker.Session)
		switch {
		case !ok:
			s, err := b.Broker.Operate(VHost)
			return s, ToStatus(err, nil)
		case b.Broker.HasVHost(s.VHostID()):
			return s, nil
		}
		s.Close() // its virtual host was deleted; another one may have the name now
	}
}

// Back returns a borrowed session.
func (b *Base) Back(s *broker.Session) { b.sessions.Put(s) }

// Present returns the header of an answer at the current revision.
func (b *Base) Present() *pb.ResponseHeader { return b.Header(b.Clock.Current()) }

// Admit refuses requests that need memory or disk space while there is an alarm.
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
