package broker

import "sync"

const (
	keptProposals     = 8              // more are left to the garbage collector
	keptProposalBytes = 2 * entryBytes // what a kept one may hold on to
)

// proposals recycles proposals: the committer gives back what shards take. It
// is a plain list, because a sync.Pool seldom finds on one processor what was
// put back on another, and growing a new buffer to a megabyte costs as much as
// filling it.
type proposals struct {
	mu   sync.Mutex
	free []*proposal
}

func (ps *proposals) get(sh *shard) *proposal {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	n := len(ps.free) - 1
	if n < 0 {
		return newProposal(sh)
	}
	p := ps.free[n]
	ps.free[n] = nil
	ps.free = ps.free[:n]
	p.sh = sh
	return p
}

func (ps *proposals) put(p *proposal) {
	if cap(p.data) > keptProposalBytes {
		p.data = nil
	}
	p.data = p.data[:0]
	p.refs, p.wait = 0, false
	clear(p.confirms)
	p.confirms = p.confirms[:0]
	p.releases = p.releases[:0]
	clear(p.waiters)
	p.waiters = p.waiters[:0]
	clear(p.group)
	p.sh = nil
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if len(ps.free) < keptProposals {
		ps.free = append(ps.free, p)
	}
}
