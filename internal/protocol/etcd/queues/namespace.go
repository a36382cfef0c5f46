package queues

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
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

// Options of a Namespace. The zero values mean the defaults.
type Options struct {
	Node          string    // the value of the keys of queues and consumers
	Guarantee     Guarantee // of puts
	ConsumerLimit int       // messages that a consumer holds at most
	ConsumerIdle  time.Duration
}

// Caller is the user of a request.
type Caller = virtual.Caller

// Namespace is all keys of queues.
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

// Holds reports whether a key belongs to the queues.
func Holds(key []byte) bool { return qkey.Holds(key) }

// Close ends all consumers, gives back what they held, and takes no more of them. It returns when
// that is done, or ctx is.
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

// mayMake reports whether the caller may make a queue, where it is not there.
func (n *Namespace) mayMake(who Caller, queue string) error {
	if who.Session.HasQueue(queue) {
		return nil
	}
	return who.Session.MayConfigure("queue", queue)
}
