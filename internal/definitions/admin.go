package definitions

import (
	"sync"

	"fiveways.dev/fiveways/internal/authn"
	"fiveways.dev/fiveways/internal/core/catalog"
)

// Admin implements the operations of administrators on users, virtual hosts, permissions, limits
// and parameters. Its methods may be called on any goroutine. Changes return when they are durable.
type Admin struct {
	journal   *Journal
	state     *catalog.State
	logins    *authn.Checker
	sequences sequences
	engine    Engine
	watchers  watchers
}

// Engine applies changes of the definitions to the running broker.
type Engine interface {
	// EndSessions ends the sessions of a user, of a deleted virtual host, or of both. "" and nil
	// match any.
	EndSessions(user string, v *catalog.VHost, reason error)
	// DropQueues ends queues whose deletion is durable.
	DropQueues(queues []*catalog.Queue) error
	// Enforce applies changed policies of a virtual host. It is called with the lock of the journal
	// held. The returned WaitGroup is done when all shards have applied them.
	Enforce(v *catalog.VHost) *sync.WaitGroup
	// Tapped reports whether messages of a virtual host are tapped.
	Tapped(v *catalog.VHost) bool
}

// NewAdmin returns an Admin that changes the definitions of a journal for an engine.
func NewAdmin(j *Journal, logins *authn.Checker, engine Engine) *Admin {
	return &Admin{
		journal: j, state: j.State, logins: logins, engine: engine,
		sequences: sequences{journal: j, byName: map[string]*sequence{}},
	}
}

// changeAccess makes a change of users, virtual hosts or permissions: it calls decide, applies and
// records the fact, and returns when it is durable. If decide returns no fact, nothing changes.
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

// Sequence takes n numbers, at least 1, from the sequence with that name, and returns the first of
// them. They are consecutive; the first number of a new sequence is 1. No number is given twice,
// even after a crash. Errors: ErrInvalidName, ErrLogFailed.
func (a *Admin) Sequence(name string, n int) (first int64, err error) {
	return a.sequences.next(name, n)
}

// AccessGeneration returns a number that grows with every change of a user, a permission or a
// virtual host: data read before may then be outdated.
func (a *Admin) AccessGeneration() uint64 { return a.state.AccessGeneration() }

// Version returns a number that changes with every change of the exchanges, queues, bindings and
// parameters of a virtual host, so that data derived from them can be cached: read the version
// first, then the definitions. It returns 0 if the virtual host does not exist.
func (a *Admin) Version(vhost string) uint64 { return a.state.Version(vhost) }
