package semaphores

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"fiveways/internal/broker"
)

// Options configure a Manager. The zero value of a field is its default.
type Options struct {
	MaxBytes int64 // memory that tasks may take; new ones are refused beyond; 0: no bound
	Logger   *slog.Logger
	Now      func() time.Time // time.Now
}

// Manager is all semaphores of a broker. It is the broker's annex, and its methods may be called by any goroutine.
type Manager struct{ o Options }

var errSoon = errors.New("semaphores: not yet")

// round is one turn of the manager.
type round struct{}

// New returns a manager without semaphores, to be filled by Restore and Apply.
func New(o Options) *Manager { return &Manager{o} }

// Start lets it take changes, through b, which has recovered.
func (m *Manager) Start(b *broker.Broker) error { return nil }

// Stop ends what it does by itself. Call it before the broker closes.
func (m *Manager) Stop() {}

// Apply implements broker.Annex.
func (m *Manager) Apply(index uint64, entry []byte) {}

// Freeze implements broker.Annex.
func (m *Manager) Freeze() (size int64, write func(io.Writer) error) {
	return 0, func(io.Writer) error { return nil }
}

// Restore implements broker.Annex.
func (m *Manager) Restore(r io.Reader) error { return nil }

// Do does changes in their order, and returns when all that they changed is durable; whether each went well is in its Of. The transitions that
// follow are decided at once and durable with them, as far as one group of the log takes them, and the others follow by themselves. The caller holds no lock that a sink or
// a confirmer takes. Errors, after which nothing is known of any of them: broker.ErrLogFailed, broker.ErrClosed.
func (m *Manager) Do(s *broker.Session, changes ...Change) error {
	return m.DoWith(s, Group{}, changes...)
}

// DoWith does changes together with what else is in the group. Errors, after which nothing happened: those of the group's commands that must be done,
// and of its transaction.
func (m *Manager) DoWith(s *broker.Session, g Group, changes ...Change) error { return errSoon }

// List describes the semaphores of the session's virtual host that it may read and whose key contains what is given, in order of their keys, those
// behind after, at most limit; next is the last key, "" when there are no more.
func (m *Manager) List(s *broker.Session, contains, after string, limit int) (all []Info, next string) {
	return nil, ""
}

// Watch has fn told of what happens from now on, once it is durable, in the order of the log, until stop is called. fn must not block and calls
// neither the manager nor the broker; the events are not to be kept. Errors: broker.ErrAccessRefused.
func (m *Manager) Watch(s *broker.Session, o WatchOptions, fn func([]Event)) (stop func(), err error) {
	return nil, errSoon
}

// Acquire enqueues a task and returns when it runs. When ctx ends first the task stays in the line. Errors: those of Enqueue; ErrNoTask (it was
// released or its owner ended), ErrDeleted, that of ctx.
func (m *Manager) Acquire(ctx context.Context, s *broker.Session, key string, e Entry) (State, error) {
	return State{}, errSoon
}

// EndOwner takes the places of all tasks of an owner away, in all virtual hosts, with the event Expired.
func (m *Manager) EndOwner(owner int64) error { return errSoon }

// Owners are the owners of the tasks that are there.
func (m *Manager) Owners() []int64 { return nil }
