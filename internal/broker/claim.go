package broker

import (
	"context"
	"slices"
	"sync"

	"fiveways/internal/core/deadlock"
	"fiveways/internal/core/idindex"
	"fiveways/internal/core/queue"
)

// Claim is the right to be the only one who brings a message of some name, until it is given back.
type Claim struct {
	key  claimKey
	by   *Session
	over chan struct{}
}

type claimKey struct {
	vhost *VHost
	name  string
}

// claims is those that are held. Its mutex is held alone.
type claims struct {
	mu    sync.Mutex
	byKey map[claimKey]*Claim
}

// Holdings is what a waiting session holds meanwhile.
type Holdings struct {
	Loans  []Loan
	Claims []*Claim
}

// resource is what a session holds or waits for: a message, or a claim.
type resource struct {
	loan  Loan
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

// Claim gets the claim to a name in the session's virtual host, and waits while another session has
// it; fresh is false when the session had it before. held is as with SeizeByID. Errors:
// ErrDeadlock, ErrClosed, that of ctx.
func (s *Session) Claim(ctx context.Context, name string, held func() Holdings) (c *Claim, fresh bool, err error) {
	ended, err := s.ending()
	if err != nil {
		return nil, false, err
	}
	mine := &Claim{key: claimKey{s.vhost, name}, by: s, over: make(chan struct{})}
	for {
		have := s.b.claims.add(mine)
		if have.by == s {
			return have, have == mine, nil
		}
		if err := s.awaitClaim(ctx, ended, have, held); err != nil {
			return nil, false, err
		}
	}
}

func (s *Session) awaitClaim(ctx context.Context, ended <-chan struct{}, c *Claim, held func() Holdings) error {
	h := held()
	w := &deadlock.Wait[resource]{For: resource{claim: c}, Holds: h.resources()}
	if !s.b.waits.Enter(w) {
		return s.fail(ErrDeadlock, "message", c.key.name)
	}
	defer s.b.waits.Leave(w)
	select {
	case <-c.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-ended:
		return ErrClosed
	}
}

// Unclaim gives a claim back; nil is none, and once is enough.
func (s *Session) Unclaim(c *Claim) {
	if c == nil {
		return
	}
	cs := &s.b.claims
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.byKey[c.key] == c {
		delete(cs.byKey, c.key)
		close(c.over)
	}
}

// add returns the holder of the key: c when there was none.
func (cs *claims) add(c *Claim) *Claim {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if have := cs.byKey[c.key]; have != nil {
		return have
	}
	if cs.byKey == nil {
		cs.byKey = map[claimKey]*Claim{}
	}
	cs.byKey[c.key] = c
	return c
}

// Occupied reports whether a queue whose messages have an order (QueuePolicy.ConsumeAfter) has a
// message with an id that is not among its own, what the caller has on loan. One that somebody else
// has is waited for, as SeizeByID does. No right is asked for: who knows an id may know of its
// message. Errors: ErrDeadlock, ErrClosed, that of ctx.
func (s *Session) Occupied(ctx context.Context, queueName, messageID string, own []Loan, held func() Holdings) (bool, error) {
	s.Flush()
	sum := idindex.SumOf([]byte(messageID))
	for {
		q, ok := s.vhost.queue(queueName)
		if !ok || !q.Policy().Known() {
			return false, nil
		}
		a, err := s.take(ctx, q, request{look: true, held: held}, func() (queue.Handle, bool) {
			for at := range q.after.Graph().With(sum) {
				if at.In == q.after && !slices.Contains(own, Loan{q, at.Handle}) {
					return at.Handle, true
				}
			}
			return 0, false
		})
		if err != nil || !a.gone {
			return a.ok, err
		}
	}
}
