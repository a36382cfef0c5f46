package loans

import (
	"context"
	"sync"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/deadlock"
	"fiveways.dev/fiveways/internal/core/failure"
)

// Manager knows which names are claimed, and what transactions wait for while they hold something.
// All transactions of a broker share one. Its zero value is ready; any goroutine may use it.
type Manager struct {
	waits deadlock.Detector[resource]

	mu     sync.Mutex
	claims map[claimKey]*Claim // guarded by mu: those that are held
}

// Transaction is what a session that waits says of its transaction.
type Transaction struct {
	Manager *Manager
	// Holdings is what it holds. It is called when there is something to wait for, on the caller's
	// goroutine.
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

// deadlocked is the error of a session that would wait for ever.
func (r resource) deadlocked(s *broker.Session) error {
	if r.claim != nil {
		return s.Fail(failure.ErrDeadlock, "message", r.claim.key.name)
	}
	return s.Fail(failure.ErrDeadlock, "queue", r.loan.Queue.Name)
}

// await waits for something until done is closed, or ctx, the session (ended) or the shard of the
// queue (stopped) ends. t may be nil. Errors: ErrDeadlock, ErrClosed, that of ctx.
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
