package semkeys

import (
	"context"
	"log/slog"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Caller is the user of a request.
type Caller = virtual.Caller

// Namespace serves all keys of semaphores.
type Namespace struct {
	*virtual.Base
	m      *semaphores.Manager
	feed   feed
	leases leases
}

// New returns the namespace of a manager's semaphores. It starts to remove tasks whose leases ended
// while the broker was down.
func New(base *virtual.Base, m *semaphores.Manager, log *slog.Logger) *Namespace {
	n := &Namespace{Base: base, m: m}
	n.feed.init(n)
	n.leases.init(n, log)
	return n
}

// Holds implements virtual.Family.
func (n *Namespace) Holds(key []byte) bool { return holds(key) }

// Status implements virtual.Family.
func (n *Namespace) Status(err error) error { return toStatus(err) }

// Close ends background work.
func (n *Namespace) Close(ctx context.Context) {
	n.feed.close()
	n.leases.close(ctx)
}

// Permissions on semaphores, as the manager asks for them.
const (
	toConfigure = "configure"
	toWrite     = "write"
	toRead      = "read"
)

// may returns an error if the caller lacks the permission on a semaphore.
func may(who Caller, action, semaphore string) error {
	if who.Session == nil {
		return rpctypes.ErrGRPCPermissionDenied
	}
	return toStatus(who.Session.May(action, "semaphore", semaphore))
}

// ask lends the manager a session with all permissions. The caller's permissions must be checked
// before.
func (n *Namespace) ask(do func(s *broker.Session) error) error {
	s, err := n.Operator()
	if err != nil {
		return err
	}
	defer n.Back(s)
	return do(s)
}

// do makes changes without a permission check.
func (n *Namespace) do(changes ...semaphores.Change) error {
	return n.ask(func(s *broker.Session) error { return n.m.Do(s, changes...) })
}
