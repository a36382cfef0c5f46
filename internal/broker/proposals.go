package broker

import "sync"

// keptProposalBytes bounds what a reused proposal may hold on to.
const keptProposalBytes = 2 * entryBytes

// proposals recycles proposals: the committer gives back what shards take.
type proposals struct{ pool sync.Pool }

func (ps *proposals) get(sh *shard) *proposal {
	p, _ := ps.pool.Get().(*proposal)
	if p == nil {
		return newProposal(sh)
	}
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
	ps.pool.Put(p)
}
