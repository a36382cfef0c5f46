package queues

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// Guarantee determines when a put to a producer's key is answered.
type Guarantee uint8

const (
	// Local: the message is on the disk of this node, or as durable as the queue requires.
	Local Guarantee = iota
	// None: the engine has received the message.
	None
)

// Defaults of Options.
const (
	DefaultConsumerLimit = 256
	DefaultConsumerIdle  = time.Minute
)

// Options configures a Namespace. Zero values mean the defaults.
type Options struct {
	Node          string    // the value of the keys of queues and consumers
	Guarantee     Guarantee // of puts
	ConsumerLimit int       // messages that a consumer may hold
	ConsumerIdle  time.Duration
}

// Caller is the user of a request.
type Caller = virtual.Caller

// Namespace serves all keys of queues.
type Namespace struct {
	*virtual.Base
	Options

	mu     sync.RWMutex
	queues map[string]map[string]*consumer // by queue and client
	leases map[int64]map[*consumer]struct{}
	closed bool
}

// New returns the namespace of the queues of base's broker.
func New(base *virtual.Base, o Options) *Namespace {
	if o.ConsumerLimit <= 0 {
		o.ConsumerLimit = DefaultConsumerLimit
	}
	if o.ConsumerIdle <= 0 {
		o.ConsumerIdle = DefaultConsumerIdle
	}
	n := &Namespace{Base: base, Options: o, queues: map[string]map[string]*consumer{}, leases: map[int64]map[*consumer]struct{}{}}
	base.Broker.OnUserDeleted(n.userDeleted)
	return n
}

// userDeleted ends the consumers of a deleted user, even those that a lease or a watch keeps.
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

// Holds reports whether a key belongs to the queues.
func Holds(key []byte) bool { return qkey.Holds(key) }

// Close ends all consumers, requeues their deliveries, and accepts no further ones. It returns when
// that is done or ctx ends.
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

// mayMake checks that the caller may create the queue if it does not exist.
func (n *Namespace) mayMake(who Caller, queue string) error {
	if who.Session.HasQueue(queue) {
		return nil
	}
	return who.Session.MayConfigure("queue", queue)
}
