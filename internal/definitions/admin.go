package definitions

import (
	"sync"

	"fiveways.dev/fiveways/internal/authn"
	"fiveways.dev/fiveways/internal/core/catalog"
)

// Admin is what administrators do with users, virtual hosts, permissions, limits and parameters.
// Its methods may be called on any goroutine, and changes return when they are durable.
type Admin struct {
	journal   *Journal
	state     *catalog.State
	logins    *authn.Checker
	sequences sequences
	engine    Engine
	watchers  watchers
}

// Engine is what a change of the definitions means for what runs.
type Engine interface {
	// EndSessions has the sessions of a user, of a virtual host that was deleted or of both end. ""
	// and nil stand for any.
	EndSessions(user string, v *catalog.VHost, reason error)
	// DropQueues ends queues whose deletion is durable.
	DropQueues(queues []*catalog.Queue) error
	// Enforce makes changed policies of a virtual host count. It is called with the lock of the
	// journal held; what it returns is done when all shards have heard of them.
	Enforce(v *catalog.VHost) *sync.WaitGroup
	// Tapped reports whether messages of a virtual host are tapped.
	Tapped(v *catalog.VHost) bool
}

// NewAdmin changes the definitions of a journal for an engine.
func NewAdmin(j *Journal, logins *authn.Checker, engine Engine) *Admin {
	return &Admin{
		journal: j, state: j.State, logins: logins, engine: engine,
		sequences: sequences{journal: j, byName: map[string]*sequence{}},
	}
}

// changeAccess decides on a change of users, virtual hosts or permissions, makes it true, records
// it, and returns when it is durable. A decision without a fact is to leave all as it is.
func (a *Admin) changeAccess(decide func() (*catalog.AccessFact, error)) error {
	a.journal.Lock()
	f, err := decide()
	if err == nil && f != nil {
		err = a.state.ApplyAccess(f)
	}
	if err != nil || f == nil {
		a.journal.Unlock()
		return err
	}
	index := a.journal.Record(f.Append(nil))
	a.journal.Unlock()
	return a.journal.Await(index)
}

// Sequence takes n numbers, at least 1, off the sequence of that name, and returns the first of
// them. They follow each other; the first of a new sequence is 1. No call gets what another got,
// after a crash neither. Errors: ErrInvalidName, ErrLogFailed.
func (a *Admin) Sequence(name string, n int) (first int64, err error) {
	return a.sequences.next(name, n)
}

// AccessGeneration grows whenever a user, a permission or a virtual host changed: what was read of
// them before may be out of date.
func (a *Admin) AccessGeneration() uint64 { return a.state.AccessGeneration() }

// Version is a number that differs after every change of the exchanges, queues, bindings and
// parameters of a virtual host, so that what was read from them can be cached: read it first, then
// the definitions. 0: there is no such virtual host.
func (a *Admin) Version(vhost string) uint64 { return a.state.Version(vhost) }
