package cluster

import (
	"context"
	"time"

	"fiveways.dev/fiveways/internal/cluster/admission"
	"fiveways.dev/fiveways/internal/replica"
)

// Token returns a token with which nodes can join the cluster until the given time.
func (n *Node) Token(until time.Time) string { return n.identity.Token(n.o.Address, until) }

// host implements admission.Host.
type host struct{ n *Node }

// Leader implements admission.Host.
func (h host) Leader(ctx context.Context) (address string, here bool) {
	for {
		s := h.n.Status()
		if s.Leader != 0 || !wait(ctx) {
			return s.Addresses[s.Leader], s.Leader == h.n.self
		}
	}
}

// wait waits for a tick of Raft. It returns false if ctx has ended.
func wait(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(replica.TickInterval):
		return true
	}
}

// Add implements admission.Host.
func (h host) Add(ctx context.Context, newcomer admission.Newcomer) (uint64, map[uint64]string, error) {
	ticket := replica.Ticket{ID: newcomer.Token.ID, Until: newcomer.Token.Until, Key: newcomer.Key, Levels: newcomer.Levels}
	var node uint64
	var addresses map[uint64]string
	err := h.n.change(ctx, func(r *replica.Replica, done func(error)) {
		r.Join(newcomer.Address, ticket, func(n uint64, all map[uint64]string, err error) {
			node, addresses = n, all
			done(err)
		})
	})
	if err != nil {
		return 0, nil, err
	}
	h.n.o.Log.Info("cluster: a node joins", "node", node, "address", newcomer.Address)
	return node, addresses, nil
}
