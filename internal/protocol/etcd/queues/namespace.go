package queues

import (
	"context"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways/internal/broker"
	"fiveways/internal/keyspace"
	"fiveways/internal/protocol/etcd/qkey"
)

// Guarantee says when a put to a producer's key is answered.
type Guarantee uint8

const (
	// Local: the message is on this disk, or as near to it as the queue asks for.
	Local Guarantee = iota
	// None: the engine has the message.
	None
)

// The defaults of Options.
const (
	DefaultConsumerLimit = 256
	DefaultConsumerIdle  = time.Minute
)

// vhost is the virtual host whose queues are shown.
const vhost = "/"

// Options of a Namespace. The zero values mean the defaults.
type Options struct {
	Node          string    // the value of the keys of queues and consumers
	Guarantee     Guarantee // of puts
	ConsumerLimit int       // messages that a consumer holds at most
	ConsumerIdle  time.Duration
	// Header makes the header of an answer about keys of queues. nil: one with nothing but the revision.
	Header func(revision int64) *pb.ResponseHeader
	// LeaseExists tells whether a lease is there. nil: none is.
	LeaseExists func(id int64) bool
	Store       *keyspace.Store // for transactions that are about ordinary keys, too
	Now         func() time.Time
}

// Caller is who asks.
type Caller struct {
	Session *broker.Session // asked for permissions, from any goroutine
	User    string          // owns the consumers that it makes
	Root    bool            // may use those of others
}

// Namespace is all keys of queues.
type Namespace struct {
	b *broker.Broker
	Options
	clock    clock
	sessions sync.Pool // of *broker.Session, the operator's, for calls that wait

	mu     sync.RWMutex
	queues map[string]map[string]*consumer // by queue and client
	leases map[int64]map[*consumer]struct{}
	closed bool
}

// New returns the namespace of a broker's queues.
func New(b *broker.Broker, o Options) *Namespace {
	if o.ConsumerLimit <= 0 {
		o.ConsumerLimit = DefaultConsumerLimit
	}
	if o.ConsumerIdle <= 0 {
		o.ConsumerIdle = DefaultConsumerIdle
	}
	if o.Header == nil {
		o.Header = func(revision int64) *pb.ResponseHeader { return &pb.ResponseHeader{Revision: revision} }
	}
	if o.LeaseExists == nil {
		o.LeaseExists = func(int64) bool { return false }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	n := &Namespace{b: b, Options: o, queues: map[string]map[string]*consumer{}, leases: map[int64]map[*consumer]struct{}{}}
	n.clock.now = o.Now
	n.clock.next()
	b.OnUserDeleted(n.userDeleted)
	return n
}

// userDeleted ends the consumers of a user, whatever keeps them.
func (n *Namespace) userDeleted(user string) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, clients := range n.queues {
		for _, c := range clients {
			if c.owner == user {
				go c.leave(rpctypes.ErrGRPCPermissionDenied)
			}
		}
	}
}

// Holds tells whether a key belongs to the queues.
func Holds(key []byte) bool { return qkey.Holds(key) }

// Revision is the present time on the clock of keys of queues.
func (n *Namespace) Revision() int64 { return n.clock.current() }

func (n *Namespace) header() *pb.ResponseHeader { return n.Header(n.clock.current()) }

// Close ends all consumers, gives back what they held, and takes no more of them. It returns when that is done, or ctx is.
func (n *Namespace) Close(ctx context.Context) {
	n.mu.Lock()
	n.closed = true
	var all []*consumer
	for _, clients := range n.queues {
		for _, c := range clients {
			all = append(all, c)
		}
	}
	n.mu.Unlock()
	for _, c := range all {
		go c.leave(rpctypes.ErrGRPCStopped)
	}
	for _, c := range all {
		select {
		case <-c.gone:
		case <-ctx.Done():
			return
		}
	}
}

// session lends a session that may do everything, for one call.
func (n *Namespace) session() (*broker.Session, error) {
	if s, ok := n.sessions.Get().(*broker.Session); ok {
		return s, nil
	}
	s, err := n.b.Operate(vhost)
	return s, toStatus(err)
}

// mayMake tells whether the caller may make a queue, where it is not there.
func (n *Namespace) mayMake(who Caller, queue string) error {
	if who.Session.HasQueue(queue) {
		return nil
	}
	return who.Session.MayConfigure("queue", queue)
}
