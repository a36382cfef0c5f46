package definitions

import (
	"io"
	"log/slog"
	"math"
	"slices"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/authn"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// node holds definitions on a data folder, without an engine.
type node struct {
	*Admin
	*authn.Checker
	store *store.Store
}

// noEngine does nothing when definitions change.
type noEngine struct{}

func (noEngine) NewVHost() *catalog.VHost                                  { return &catalog.VHost{} }
func (noEngine) NewQueue() *catalog.Queue                                  { return &catalog.Queue{} }
func (noEngine) Build(*catalog.Queue)                                      {}
func (noEngine) Place(*catalog.VHost, uint64, *catalog.QueuePolicy) uint32 { return 1 }
func (noEngine) Added(*catalog.Queue)                                      {}
func (noEngine) LimitVHost(*catalog.VHost, catalog.Limits)                 {}
func (noEngine) LimitUser(string, catalog.Limits)                          {}
func (noEngine) DropUser(string)                                           {}
func (noEngine) TableChanged()                                             {}
func (noEngine) Removed(*catalog.Queue)                                    {}
func (noEngine) EndSessions(string, *catalog.VHost, error)                 {}
func (noEngine) DropQueues([]*catalog.Queue) error                         { return nil }
func (noEngine) Enforce(*catalog.VHost) *sync.WaitGroup                    { return &sync.WaitGroup{} }
func (noEngine) Tapped(*catalog.VHost) bool                                { return false }

func openNode(t *testing.T, fs vfs.FS) *node {
	t.Helper()
	n, err := tryOpen(fs)
	must(t, err)
	return n
}

func tryOpen(fs vfs.FS) (*node, error) {
	st, err := store.Open(fs, "data", store.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return nil, err
	}
	state := catalog.New(noEngine{}, catalog.Options{})
	j := NewJournal(state, st, store.SyncAlways.Wait())
	if err := j.Recover(st); err != nil {
		st.Close()
		return nil, err
	}
	logins := authn.NewChecker(state)
	return &node{NewAdmin(j, logins, noEngine{}), logins, st}, nil
}

func (n *node) Hash() (sum uint64, err error) {
	n.journal.Sum(math.MaxUint64, func(part, _ uint64) { sum = part })
	return sum, nil
}

func (n *node) checkpoint() error { return n.journal.Checkpoint(n.store) }

// Close ends the node like a broker: with a checkpoint.
func (n *node) Close() error {
	if err := n.checkpoint(); err != nil {
		n.store.Close()
		return err
	}
	return n.store.Close()
}

// mustClose closes a node, and compares the result of a replay of its log with its state.
func mustClose(t *testing.T, n *node) {
	t.Helper()
	n.journal.Lock() // a sequence reserves in the background
	must(t, n.journal.Await(n.journal.Last()))
	replayed := catalog.New(noEngine{}, catalog.Options{})
	must(t, NewJournal(replayed, n.store, store.SyncAlways.Wait()).Recover(n.store))
	if got, want := replayed.Hash(), n.journal.State.Hash(); got != want {
		t.Errorf("the log gives definitions with hash %x, there are some with %x", got, want)
	}
	n.journal.Unlock()
	must(t, n.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sameStrings(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
