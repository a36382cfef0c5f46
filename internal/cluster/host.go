package cluster

import (
	"context"
	"errors"
	"time"

	"fiveways.dev/fiveways/internal/cluster/admission"
	"fiveways.dev/fiveways/internal/replica"
)

// Token returns a token with which nodes can join the cluster until the given time.
func (n *Node) Token(until time.Time) string { return n.identity.Token(n.o.Address, until) }

// host implements admission.Host.
type host struct{ n *Node }

// Leader implements admission.Host.
func (h host) Leader() (address string, here bool) {
	s := h.n.Status()
	return s.Addresses[s.Leader], s.Leader == h.n.self
}

// Add implements admission.Host.
func (h host) Add(ctx context.Context, newcomer admission.Newcomer) (uint64, map[uint64]string, error) {
	ticket := replica.Ticket{ID: newcomer.Token.ID, Until: newcomer.Token.Until, Key: newcomer.Key, Levels: newcomer.Levels}
	for {
		var node uint64
		var addresses map[uint64]string
		err := h.n.ask(ctx, func(r *replica.Replica, done func(error)) {
			r.Join(newcomer.Address, ticket, func(n uint64, all map[uint64]string, err error) {
				node, addresses = n, all
				done(err)
			})
		})
		if err == nil {
			h.n.o.Log.Info("cluster: a node joins", "node", node, "address", newcomer.Address)
			return node, addresses, nil
		}
		if !errors.Is(err, replica.ErrBusy) {
			return 0, nil, err
		}
		select { // wait: another node is joining, or becoming a voter
		case <-ctx.Done():
			return 0, nil, err
		case <-time.After(replica.TickInterval):
		}
	}
}
