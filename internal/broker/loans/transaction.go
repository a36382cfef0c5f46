package loans

import (
	"context"
	"sync"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/deadlock"
	"fiveways.dev/fiveways/internal/core/failure"
)

// Manager records which names are claimed, and what waiting transactions wait for and hold. All
// transactions of a broker share one. Its zero value is ready to use. Any goroutine may use it.
type Manager struct {
	waits deadlock.Detector[resource]

	mu     sync.Mutex
	claims map[claimKey]*Claim // guarded by mu: the current claims
}

// Transaction describes the transaction of a waiting session.
type Transaction struct {
	Manager *Manager
	// Holdings returns what the transaction holds. It is called on the caller's goroutine, only if
	// the session has to wait.
	Holdings func() Holdings
}

// Holdings is what a transaction holds.
type Holdings struct {
	Loans  []shard.Loan
	Claims []*Claim
}

// resource is what a transaction holds or waits for: a message, or a claim.
type resource struct {
	loan  shard.Loan
	claim *Claim
}

func (h *Holdings) resources() (all []resource) {
	for _, l := range h.Loans {
		all = append(all, resource{loan: l})
	}
	for _, c := range h.Claims {
		all = append(all, resource{claim: c})
	}
	return all
}

// deadlocked returns the error for a session that would wait forever.
func (r resource) deadlocked(s *broker.Session) error {
	if r.claim != nil {
		return s.Fail(failure.ErrDeadlock, "message", r.claim.key.name)
	}
	return s.Fail(failure.ErrDeadlock, "queue", r.loan.Queue.Name)
}

// await waits until done is closed, or until ctx, the session (ended) or the queue's shard
// (stopped) ends. t may be nil. Errors: ErrDeadlock, ErrClosed, that of ctx.
func (t *Transaction) await(ctx context.Context, s *broker.Session, on resource, done, ended, stopped <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	if t != nil {
		holdings := t.Holdings()
		w := &deadlock.Wait[resource]{For: on, Holds: holdings.resources()}
		if len(w.Holds) > 0 {
			if !t.Manager.waits.Enter(w) {
				return on.deadlocked(s)
			}
			defer t.Manager.waits.Leave(w)
		}
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-ended:
	case <-stopped:
	}
	return failure.ErrClosed
}
